# Every target brings its own environment: `make demo` and `make test` are all a fresh machine needs.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
REQUIREMENTS ?= requirements-dev.txt

.PHONY: demo test test-all check fmt conformance bench chaos lock help
help:
	@echo "make demo      a working queue with a demo agent on http://127.0.0.1:8000 (ATTACK=1: one that cheats)"
	@echo "make test      the tests          make test-all  the long ones too"
	@echo "make check     lint, types, import contracts, migrations"
	@echo "make fmt       format             make bench     measure"
	@echo "make conformance  the suite of the protocol against a fresh server (ONLY=claim: a part of it)"
	@echo "make chaos     kill everything at random under load (KILLS=1000), and prove that nothing came of it"

# The stamp changes only with the requirement files, so a second call is instant.
$(VENV)/.stamp: requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12))' || { \
	  echo "Countersign needs Python 3.12 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1 | cut -d" " -f2). Try: make PYTHON=python3.13 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up .venv (once, under a minute)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PY) -m pip install -q --disable-pip-version-check uv
	@$(VENV)/bin/uv pip sync -q --require-hashes $(REQUIREMENTS) --python $(PY)
	@touch $@
.venv: $(VENV)/.stamp

demo: $(VENV)/.stamp
	@$(PY) manage.py demo $(if $(PORT),--port $(PORT)) $(if $(ATTACK),--attack)

# On SQLite all of it; then what talks to the database again on PostgreSQL, where one answers.
test: $(VENV)/.stamp
	@$(PY) -m pytest -m "not long" -n auto
	@$(PY) -m tests.on_postgres -n auto

test-all: $(VENV)/.stamp
	@$(PY) -m pytest -n auto
	@$(PY) -m tests.on_postgres --all -n auto

check: $(VENV)/.stamp
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports
	@$(PY) manage.py makemigrations --check --dry-run
	@$(PY) manage.py check --fail-level WARNING

fmt: $(VENV)/.stamp
	@$(VENV)/bin/ruff check --fix -q . || true
	@$(VENV)/bin/ruff format -q .

conformance: $(VENV)/.stamp
	@$(PY) -m tests.conformance_suite.serve $(if $(ONLY),--only $(ONLY))

bench: $(VENV)/.stamp
	@$(PY) -m tests.bench

# Builds an installation of its own (PostgreSQL and Redis included), and is done in about half an hour.
chaos: $(VENV)/.stamp
	@$(PY) -m tests.chaos --kills $(or $(KILLS),1000)

# Needs uv on the path of .venv; uv.lock itself stays out of git, because it records where packages came from.
lock: $(VENV)/.stamp
	@$(VENV)/bin/uv lock -q --upgrade
	@$(VENV)/bin/uv export -q --no-header --no-annotate --no-dev --format requirements.txt > requirements.txt
	@$(VENV)/bin/uv export -q --no-header --no-annotate --no-dev --extra s3 --format requirements.txt > requirements-s3.txt
	@$(VENV)/bin/uv export -q --no-header --no-annotate --format requirements.txt > requirements-dev.txt
