# Every target sets up what it needs in .venv; `make` alone lists them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help setup demo test lint bench
help:
	@echo "make setup | demo | test | lint | bench"

$(VENV)/.local: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[local]'
	touch $@

$(VENV)/.test: $(VENV)/.local
	$(PIP) -e '.[test]'
	touch $@

setup: $(VENV)/.local

demo: $(VENV)/.local
	$(BIN)/rx run examples/lr-3e-4-vs-1e-4.spec.json --rehearse

test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done
