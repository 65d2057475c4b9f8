"""What one exec costs, beside its peers: `python -m bench` prints the budget table of this checkout.

Figures are ratios of medians measured in one run, interleaved in random order, each with its spread; every
sample is checked (the answer, the exit status, the growth of the audit), so that a refusal is never taken
for a fast call. Nothing here gates a test run.
"""
