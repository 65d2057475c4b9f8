"""The conformance runner: cases as data, each through every face, on a fresh store (the corpus explains its format)."""
