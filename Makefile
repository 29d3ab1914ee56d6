# `make demo` and `make test` need only make, Python 3.11 to 3.13 and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.weft-installed
# What pytest has made of the tests is kept for the next run, also where Python is told to keep nothing.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
# As many processes as there are cores, which share the tests as tests/sharing.py says.
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help install demo test tests check tests-of-changes lint bytecode types format tiny test-slow test-gpu golden record fuzz soak bench bench-operations stubs docs dist clean

help:  ## what there is
	@sed -n 's/^\([a-z-]*\):.*##/  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

# The stamp is newer than these once everything in them is installed.
$(STAMP): pyproject.toml setup.py $(wildcard native/*)
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 11) <= v <= (3, 13) or sys.exit("weft needs Python 3.11, 3.12 or 3.13; " + sys.executable + " is %d.%d: say make PYTHON=python3.12" % v)'
	@echo "Installing weft into $(VENV) (a minute or two, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

install: $(STAMP)  ## make .venv and install weft into it

demo: $(STAMP)  ## train a small classifier on the Iris data
	@$(BIN)/python examples/iris.py

# Types are checked while the tests run: mypy has one core, the tests often wait.
test: bytecode  ## lint, check types, run the tests
	@$(MAKE) --no-print-directory -j2 lint tests

tests: $(STAMP)
	@$(PYTEST) -q $(PARALLEL)

check: bytecode  ## lint, check types, run the tests that concern what was changed since the last commit
	@$(MAKE) --no-print-directory -j2 lint tests-of-changes

tests-of-changes: $(STAMP)
	@WEFT_CHECK_CHANGE=1 $(PYTEST) -q $(PARALLEL) $$($(BIN)/python -m tests.affected)

lint: $(STAMP)  ## ruff and mypy
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "not formatted: run 'make format'"; exit 1; }
	@$(BIN)/mypy --no-error-summary

# Many tests start processes; where PYTHONDONTWRITEBYTECODE is set, each would compile all modules.
bytecode: $(STAMP)
	@$(BIN)/python -m compileall -q -j 0 weft tests

types: $(STAMP)  ## mypy alone
	@$(BIN)/mypy

format: $(STAMP)  ## let ruff fix and format what it can
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

tiny: $(STAMP)  ## a smoke test of a few seconds
	@$(PYTEST) -q -x tests/test_tiny.py tests/test_layers.py

test-slow: $(STAMP)  ## tests that start processes or train for a while
	@$(PYTEST) -q -m "slow or cluster"

test-gpu: $(STAMP)  ## tests that need an accelerator
	@$(PYTEST) -q -m gpu

golden: $(STAMP)  ## rewrite tests/golden from what the code prints now; review the diff
	@$(BIN)/python -m tests.golden.write

# What counts is what 1.15 does; a later one is asked for what 1.15 does not have.
PYTHON37 ?= python3.7
.venv-tf115:
	@$(PYTHON37) -m venv $@
	@$@/bin/python -m pip install --quiet 'tensorflow==1.15.5' 'protobuf<3.21'

record: $(STAMP) .venv-tf115  ## ask TensorFlow (1.15 of PYTHON37, x86-64; 2.21) for samples not recorded yet
	@$(BIN)/python benchmarks/tensorflow_env.py
	@$(BIN)/python -m tests.parity.record --tensorflow .venv-tf115/bin/python .venv-tf/bin/python

SECONDS ?= 60
fuzz: $(STAMP)  ## hostile operations, graphs and files for SECONDS (60), from SEED (a new one), in JOBS (cores)
	@$(BIN)/python -m tests.fuzz.run --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS))

MINUTES ?= 60
soak: $(STAMP)  ## one server under hostile and honest clients at once, for MINUTES (60)
	@$(BIN)/python -m tests.fuzz.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

bench: $(STAMP)  ## weft beside TensorFlow 2.21 (made in .venv-tf on demand)
	@$(BIN)/python benchmarks/run.py $(BENCH)

bench-operations: $(STAMP)  ## ninety operations, weft beside TensorFlow 2.21 and JAX
	@$(BIN)/python benchmarks/operations.py $(BENCH)

stubs: $(STAMP)  ## rewrite the type stubs of the public modules
	@$(BIN)/python packaging/stubs/generate.py

DOCS_STAMP := $(VENV)/.weft-docs-installed
$(DOCS_STAMP): $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: $(DOCS_STAMP)  ## rewrite the generated pages in docs/ and build the site into build/site
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/audit.py
	@$(BIN)/python docs/site/build.py

dist: $(STAMP)  ## build wheels into dist/: weft, and the one that takes TensorFlow's name
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist . ./packaging/weft-tensorflow

clean:  ## remove the environments and caches
	@rm -rf $(VENV) .venv-tf build dist *.egg-info packaging/*/build packaging/*/*.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
