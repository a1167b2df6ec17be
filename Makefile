# Every target works in a fresh clone: it makes its own virtual environment and installs the tools it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

# Folders of tests that need a control plane, a real engine or minutes: each is a target of its own.
SLOW := cluster engine_live engine_truth matrix

.PHONY: install tools check test matrix generated cluster-tools cluster-test cluster-matrix schemas-check engine-truth engine-live bench clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

tools: install
	$(BIN)/python scripts/tools install --group test

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Everything that needs no control plane and no engine.
test: tools check
	$(BIN)/pytest tests $(SLOW:%=--ignore=tests/%) -n $(JOBS)

# Every cloud, card and allocation of the placement table as a whole chart.
matrix: tools
	$(BIN)/pytest tests/matrix -n $(JOBS)

# What is generated is committed; this writes it anew, and a test fails when it differs.
generated: install
	$(BIN)/python scripts/generate
	$(BIN)/chartgen policy docs

# A real etcd, API server, scheduler and controllers. Building them takes about half an hour, once.
cluster-tools: tools
	nice $(BIN)/python scripts/tools install --group cluster
	nice $(BIN)/python scripts/tools install --group controllers

# They judge what is rendered. Each worker has control planes of its own; tests that share programs share an xdist_group.
cluster-test: cluster-tools
	$(BIN)/pytest tests/cluster -m "not whole" -n $(JOBS) --dist loadgroup

# Every chart of the breadth matrix before the API servers; cluster-test takes a tenth of it.
cluster-matrix: cluster-tools
	$(BIN)/pytest tests/cluster -m whole

# The embedded schemas are what the modules they name give today.
schemas-check: install
	$(BIN)/python scripts/schemas --check

# Rendered command lines and the engine catalogue before vLLM's own parser, release by release.
engine-truth: install
	$(BIN)/python scripts/engine_truth
	$(BIN)/pytest tests/engine_truth

# A real vLLM, on the CPU, started as a rendered chart starts it: probes, metrics, queue limit, drain.
engine-live: tools
	$(BIN)/python scripts/engine_live
	$(BIN)/pytest tests/engine_live

# Speed of render and lint, beside other programs: about ten minutes. The other files in benchmarks/ measure accuracy
# (memory, recipes, speed model) and the schema check; each says how to run it.
bench: tools
	$(BIN)/python benchmarks/bench_render.py
	$(BIN)/python benchmarks/bench_lint.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
