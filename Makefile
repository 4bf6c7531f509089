# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
# `make test PYTHON=python3.13` runs them with another Python, in an environment of its own: .venv-3.13.
PYTHON ?= python3
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'))
BIN := $(VENV)/bin
TESTS ?=
WITHOUT_COMPILER := tests/jit/test_guards.py tests/jit/test_raising.py tests/jit/test_composition.py tests/transforms/test_loops.py

.PHONY: demo test quick slow lint check docs bench clean

demo: $(VENV)/base
	$(BIN)/python examples/demo.py

test: $(VENV)/test
	$(BIN)/python -m pytest -n auto -q -m "not slow" $(TESTS)
	$(BIN)/python -m pytest -n auto -q -m "not slow" -p tests.no_llvmlite $(WITHOUT_COMPILER)

quick: $(VENV)/test
	$(BIN)/python -m pytest -n auto -q -m "not slow" $(TESTS)

slow: $(VENV)/test
	$(BIN)/python -m pytest -n auto -q -m slow $(TESTS)

lint: $(VENV)/dev
	PATH="$(CURDIR)/$(BIN):$$PATH" ./check --lint

check: $(VENV)/dev
	PATH="$(CURDIR)/$(BIN):$$PATH" ./check

docs: $(VENV)/test
	$(BIN)/python scripts/generate_docs.py

bench: $(VENV)/benchmarks
	$(BIN)/python -m benchmarks

$(VENV)/pip:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/base: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install -q -e '.[jit]'
	touch $@

$(VENV)/test: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $@ $(VENV)/base

$(VENV)/dev: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@ $(VENV)/test $(VENV)/base

$(VENV)/benchmarks: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install -q -e '.[benchmarks]'
	touch $@ $(VENV)/base

clean:
	rm -rf .venv .venv-*
