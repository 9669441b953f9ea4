# Hindwise. `make` alone lists what there is.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
T ?= tests
export PYTHONDONTWRITEBYTECODE :=
# Set-up writes nothing outside this folder: what is fetched is kept beside what it is linked into.
export UV_CACHE_DIR := $(CURDIR)/$(VENV)/.uv-cache
export PIP_NO_CACHE_DIR := 1
# Tests mostly wait for servers: one process more than there are cores, and no more than four.
export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.DEFAULT_GOAL := help
.PHONY: help setup up demo demo-keep servers test lint types imports format bench-core cluster cluster-keep clean

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## make .venv and install everything, hashes checked

$(STAMP): requirements.lock bootstrap.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Hindwise needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@echo "Installing into $(VENV) (about half a minute the first time) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r bootstrap.lock
	@$(BIN)/uv pip install -q --python $(BIN)/python --compile-bytecode --require-hashes -r requirements.lock
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $(STAMP)

up: setup  ## run Hindwise on this machine until Ctrl-C
	@$(BIN)/hindwise up

demo: setup  ## see it work on real runs: five acts, under three minutes
	@$(BIN)/hindwise demo

demo-keep: setup  ## the same, and leave it running to look around
	@$(BIN)/hindwise demo --keep

servers: setup  ## get the servers that tests use: PostgreSQL (Debian), Weaviate (about 4 minutes once)
	@$(BIN)/python -m tests.servers.get

test: setup  ## every test; T=path runs that part alone
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile $(T)

lint: setup  ## style and import order
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: setup  ## strict types
	@$(BIN)/mypy

imports: setup  ## who may import whom
	@$(BIN)/lint-imports

format: setup  ## rewrite the files in the house style
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

cluster: setup  ## Postgres, Weaviate, Temporal, 2 APIs, 2 workers: kill -9 of each under load, the demo, the end; KEEP=1: stays up
	@$(BIN)/python -m bench.cluster $(if $(KEEP),--keep)

cluster-keep: setup  ## the same as make cluster KEEP=1
	@$(BIN)/python -m bench.cluster --keep

bench-core: setup  ## turns, reflections and recall next to their floors
	@$(BIN)/python -m bench.core

clean:  ## remove what set-up and tests made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist build
