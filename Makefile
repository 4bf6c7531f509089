# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
# `make test PYTHON=python3.13` runs them with another Python, in an environment of its own: .venv-3.13.
PYTHON ?= python3
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'))
BIN := $(VENV)/bin
TESTS ?=
PYTEST := -m pytest -n auto --dist worksteal -q
# Programs run by NumPy, as if llvmlite were not there; the catalogue always runs them so.
WITHOUT_COMPILER := -p tests.no_llvmlite tests/jit tests/transforms/test_loops.py --ignore=tests/jit/test_catalogue_jit.py

# Calls as users have them: quick code at first, which is replaced while the function goes on being called.
TIERED := tests/jit tests/transforms/test_loops.py tests/compile/test_lowering_random.py tests/training/test_train.py \
    --ignore=tests/jit/test_catalogue_jit.py

# What checks compiled code, for processors that have less than this one; those that it cannot stand in for are left out.
COMPILED := tests/compile/test_ulp.py tests/compile/test_scalars.py tests/compile/test_vectorise.py \
    tests/compile/test_lowering.py tests/compile/test_lowering_random.py tests/compile/test_rows.py
OLDER := $(if $(shell grep -m 1 -ow avx2 /proc/cpuinfo 2>/dev/null),x86-64) $(if $(shell grep -m 1 -ow avx512f /proc/cpuinfo 2>/dev/null),avx2)

.PHONY: demo test quick slow tiers processors lint check docs bench clean

demo: $(VENV)/base
	$(BIN)/python examples/demo.py

test: $(VENV)/test
	$(BIN)/python $(PYTEST) -m "not slow" $(TESTS)
	$(BIN)/python $(PYTEST) -m "not slow" $(WITHOUT_COMPILER)

quick: $(VENV)/test
	$(BIN)/python $(PYTEST) -m "not slow" $(TESTS)

tiers: $(VENV)/test
	ADJOINT_QUICK=on $(BIN)/python $(PYTEST) -m "not slow" $(TIERED)

processors: $(VENV)/test
	for processor in $(OLDER); do \
	  ADJOINT_PROCESSOR=$$processor $(BIN)/python $(PYTEST) -m "not slow" $(COMPILED) || exit 1; \
	done

slow: $(VENV)/test
	$(BIN)/python $(PYTEST) -m slow $(TESTS)

lint: $(VENV)/dev
	PATH="$(CURDIR)/$(BIN):$$PATH" ./check --lint

check: $(VENV)/dev
	PATH="$(CURDIR)/$(BIN):$$PATH" ./check

docs: $(VENV)/test
	$(BIN)/python scripts/generate_docs.py
	$(BIN)/python scripts/draw_optim.py
	$(BIN)/python scripts/draw_sparse.py

bench: $(VENV)/benchmarks
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.optim
	$(BIN)/python -m benchmarks.sparse
	$(BIN)/python -m benchmarks.ode
	$(BIN)/python -m benchmarks.ode.fit
	$(BIN)/python -m benchmarks.solvers
	$(BIN)/python -m benchmarks.science
	$(BIN)/python -m benchmarks.learn
	$(BIN)/python -m benchmarks.growth

$(VENV)/pip:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/base: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install -q -e '.[learn]' 'rich>=13'
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
