# Each target sets up what it needs, from nothing, without questions: see scripts/setup.
# VENV=path chooses the virtual environment; PYTEST_ARGS adds arguments for pytest.
VENV ?= .venv
PYTEST_ARGS ?=

BIN = "$(VENV)/bin
export VENV
unexport PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help demo test coverage lint format bench clean

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile

demo: ## the guided tour, in a temporary home, without network
	@scripts/setup run
	@$(BIN)/python" -m hcpx demo

test: ## every test
	@scripts/setup dev
	$(BIN)/python" -m pytest $(PYTEST_ARGS)

coverage: ## every test, then the gate: pipeline, rendering and vocabulary at 100 % of their branches
	@scripts/setup dev
	$(BIN)/python" -m pytest --cov --cov-report= $(PYTEST_ARGS)
	scripts/coverage-gate

lint: ## ruff, basedpyright, import rules
	@scripts/setup dev
	scripts/lint

format: ## let ruff set the layout
	@scripts/setup dev
	$(BIN)/ruff" format
	$(BIN)/ruff" check --fix

bench: ## what one exec costs, beside its peers
	@scripts/setup dev
	$(BIN)/python" -m bench

clean: ## remove what make made
	[ ! -f "$(VENV)/pyvenv.cfg" ] || rm -rf -- "$(VENV)"
	rm -rf -- .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* build dist
	find src tests bench packs conformance docs -name __pycache__ -type d -prune -exec rm -rf -- {} + 2>/dev/null || :
