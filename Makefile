# Every target works in a fresh clone: it makes its own virtual environment and installs the tools it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: install tools check test generated cluster-test matrix-test schemas-check bench clean

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

# Everything that needs no control plane.
test: tools check
	$(BIN)/pytest tests --ignore=tests/cluster --ignore=tests/matrix -n $(JOBS)

# Every row of the placement table as a whole chart, on every Kubernetes.
matrix-test: tools
	$(BIN)/pytest tests/matrix -n $(JOBS)

# What is generated is committed; this writes it anew, and a test fails when it differs.
generated: install
	$(BIN)/python scripts/generate

# A real etcd, API server, controllers and scheduler judge what is rendered. Building them takes a while, once.
cluster-test: tools
	$(BIN)/python scripts/tools install --group cluster
	$(BIN)/pytest tests/cluster

# The embedded schemas are what the modules they name give today.
schemas-check: install
	$(BIN)/python scripts/schemas --check

bench: install
	$(BIN)/python benchmarks/bench_render.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
