# Two commands do everything: make demo, make test. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Most walks wait for a server rather than for a core: more workers than cores.
PYTEST_ARGS ?= --numprocesses 3 --dist loadfile

.PHONY: help setup demo test check lint types contracts docs bench lock format clean
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The lock's hashes are checked by pip; the project itself is then linked in, without its dependencies.
$(VENV)/.run: requirements/run.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@touch $@

setup: $(VENV)/.run ## Make .venv with what the product needs

demo: setup ## The main job without any account; ONCE=1 prints the queue and exits
	@$(BIN)/triage demo $(if $(ONCE),--once)

test: $(VENV)/.dev ## Every test
	$(BIN)/pytest $(PYTEST_ARGS)

check: lint types contracts docs ## Lint, types, import contracts, docs

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	$(BIN)/pytest --quiet tests/test_docs.py

bench: $(VENV)/.dev ## Measurements, each against a baseline of the same run
	$(BIN)/python -m bench $(BENCH)

format: $(VENV)/.dev ## Mend what can be mended
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(VENV)/.dev ## Resolve the locks anew (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-strip-extras --no-header --python-version 3.11 pyproject.toml requirements/build.in -o requirements/run.lock
	uv pip compile --quiet --universal --generate-hashes --no-strip-extras --no-header --python-version 3.11 --group dev pyproject.toml requirements/build.in -o requirements/dev.lock

clean: ## Remove what the commands above made
	rm -rf $(VENV) .cache .pytest_cache .ruff_cache .mypy_cache .import_linter_cache
