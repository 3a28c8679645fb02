# Every target sets up what it needs in .venv; `make` alone lists them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help setup demo test lint bench browser
help:
	@echo "make setup | demo | test | lint | bench"

$(VENV)/.local: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) -e '.[local]'
	touch $@

$(VENV)/.test: $(VENV)/.local
	$(PIP) -e '.[test]'
	touch $@

setup: $(VENV)/.local

demo: $(VENV)/.local
	$(BIN)/rx run examples/lr-3e-4-vs-1e-4.spec.json --rehearse

# The report is looked at in a real browser.
browser:
	test -x /usr/bin/chromium || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium; }

test: $(VENV)/.test browser
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done
