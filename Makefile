# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
# `make test PYTHON=python3.13` runs them with another Python, in an environment of its own: .venv-3.13.
PYTHON ?= python3
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'))
BIN := $(VENV)/bin
TESTS ?=
PYTEST := -m pytest -n auto --dist worksteal -q
# Programs run by NumPy, as if llvmlite were not there; the catalogue always runs them so.
WITHOUT_COMPILER := -p tests.no_llvmlite tests/jit tests/transforms/test_loops.py --ignore=tests/jit/test_catalogue_jit.py

.PHONY: demo test quick slow lint check docs bench clean

demo: $(VENV)/base
	$(BIN)/python examples/demo.py

test: $(VENV)/test
	$(BIN)/python $(PYTEST) -m "not slow" $(TESTS)
	$(BIN)/python $(PYTEST) -m "not slow" $(WITHOUT_COMPILER)

quick: $(VENV)/test
	$(BIN)/python $(PYTEST) -m "not slow" $(TESTS)

slow: $(VENV)/test
	$(BIN)/python $(PYTEST) -m slow $(TESTS)

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
