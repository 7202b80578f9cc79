# `make demo` and `make test` need Rust, CPython 3.10 or newer, and this file; the rest installs itself, pinned, into
# .venv* here.
.DEFAULT_GOAL := help
.PHONY: help demo test campaigns bench docs wheel clean

help:
	@echo "make demo       build, install into .venv, run three nodes and break them"
	@echo "make test       all checks: Rust, the wheel, Python on the oldest and newest interpreter found, types, docs"
	@echo "make campaigns  clusters under long rows of faults: about an hour"
	@echo "make bench      the figures, against a bare socket and Redis"
	@echo "make docs       the site, into site/"
	@echo "make wheel      one wheel for every CPython from 3.10 on, in dist/"
	@echo "make clean      remove all that these made"

demo:
	@scripts/demo

test:
	@scripts/test

campaigns:
	@scripts/campaigns

bench:
	@scripts/bench

docs:
	@scripts/docs

wheel:
	@scripts/wheel

clean:
	rm -rf .venv .venv-* dist site target .mypy_cache .pytest_cache .ruff_cache
