# Everything a checkout needs, from an empty machine with Python 3.11+ and git. `make` alone lists the targets.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq
GOOD := fixtures/sets/broker

# The interpreters to try, best first; `make PYTHON=/path/to/python3 ...` names one instead.
PYTHON := python3.13 python3.12 python3.11 python3 python
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

# More for pytest, as in `make test PYTEST_ARGS="-n 4 -k tags"`.
PYTEST_ARGS :=

# A clone of Kafka and a directory with jars: of the generator for `make verdicts`, which takes a seed for its mutations;
# of releases for `make releases`.
KAFKA :=
JARS :=
SEED := 1

# The one rule whose snapshot to accept.
RULE :=

# The tag that a release is made of, which its version has to match.
TAG :=

# More for the benchmark of growth, as in `make bench-growth GROWTH_ARGS=increment`.
GROWTH_ARGS :=

# Older pips read build requirements' pins from the first of these, newer ones from the second. The path is
# relative because pip splits these values at blanks, and a checkout may lie in a directory with a blank in its name.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Without kept bytecode, every start compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help check test lint snapshots new-rule docs precision corpus releases verdicts bench bench-growth pipeline-demo editor release-check clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

check: $(VENV)/installed ## install kiplint into .venv and check the schemas in the repository
	@$(BIN)/kiplint check $(GOOD)

test: $(VENV)/installed-dev ## run the tests
	@$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

lint: $(VENV)/installed-dev ## run ruff, mypy and the import contracts
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

snapshots: $(VENV)/installed-dev ## accept the current findings of rules in their fixtures: all rules, or make snapshots RULE=pack/name
	@$(BIN)/pytest tests/test_rules.py tests/test_compat_rules.py $(if $(RULE),-k '[$(RULE)]') --accept

new-rule: $(VENV)/installed-dev ## start a new rule: make new-rule ID=pack/name
	@$(BIN)/python scripts/new_rule.py '$(ID)'
	@$(BIN)/pytest tests/test_rules.py -k '$(ID)' --accept

docs: $(VENV)/installed-dev ## write the generated pages of docs/, and the outputs of commands in the README and the guide
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/consoles.py

precision: $(VENV)/installed-dev ## measure what rules find in Kafka's releases, pull requests and forks, and write docs/precision.json and docs/pull_requests.json
	@$(BIN)/python scripts/precision.py
	@$(BIN)/python scripts/pull_requests.py

corpus: $(VENV)/created ## create the corpus of real schemas in ../shared/corpus from public repositories
	@$(BIN)/python scripts/make_corpus.py ../shared/corpus

releases: $(VENV)/installed ## create the built-in releases from the tags of a clone and from jars: make releases KAFKA=clone JARS=directory
	@$(BIN)/python scripts/make_releases.py '$(KAFKA)' $(if $(JARS),--jars '$(JARS)')

verdicts: $(VENV)/installed ## compare kiplint's verdicts with those of Kafka's generator, and write build/verdicts.md: make verdicts KAFKA=checkout JARS=directory
	@$(BIN)/python scripts/compare_generator.py '$(KAFKA)' '$(JARS)' --seed $(SEED) --page build/verdicts.md

bench: $(VENV)/installed-dev ## compare the speed of check and diff with buf
	@$(BIN)/python -m benchmarks

bench-growth: $(VENV)/installed-dev ## measure how the time and memory of a pipeline run grow
	@$(BIN)/python -m benchmarks.growth $(GROWTH_ARGS)

pipeline-demo: $(VENV)/installed-pipeline ## run the pipeline on a sample history and show its report
	@$(BIN)/python -m benchmarks.demo

editor: ## build the extension for VS Code, editors/vscode/kiplint.vsix; needs Node.js
	@cp LICENSE editors/vscode/LICENSE
	@cd editors/vscode && npm ci --no-audit --no-fund --silent && npx --no-install vsce package --out kiplint.vsix

release-check: $(VENV)/installed-dev ## build the files of a release into ./dist, check them, and run them in empty environments
	@$(PIP) install --group release
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist .
	@$(BIN)/twine check --strict dist/*
	@$(BIN)/python scripts/try_out.py dist --tag '$(TAG)'

clean: ## remove .venv, caches and build results
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The files below are stamps: each is touched once its step has gone through, so that a second run installs nothing.
$(VENV)/created:
	@for python in $(PYTHON); do \
	  if $$python -c '$(USABLE)' >/dev/null 2>&1; then \
	    echo "Creating $(VENV) with $$python"; \
	    $$python -m venv $(VENV) && touch $@ && exit; \
	    exit 1; \
	  fi; \
	done; \
	echo 'kiplint needs Python 3.11 or newer with the venv module; to name one: make PYTHON=/path/to/python3' >&2; \
	exit 1

$(VENV)/installed: $(VENV)/created pyproject.toml constraints.txt
	@echo "Installing kiplint into $(VENV)"
	@$(PIP) install --editable .
	@$(BIN)/python -m compileall -q src
	@touch $@

# Dependency groups need pip 25.1, which no supported Python is sure to bring along. Spark is most of what is installed.
$(VENV)/installed-dev: $(VENV)/installed
	@echo "Installing the tools of the tests into $(VENV)"
	@$(PIP) install --upgrade pip
	@$(PIP) install --group dev --editable '.[lsp,pipeline]'
	@touch $@

# The extra without the tools of the tests; an environment for development has it already.
$(VENV)/installed-pipeline: $(VENV)/installed
	@[ -e $(VENV)/installed-dev ] || echo "Installing Spark into $(VENV)"
	@[ -e $(VENV)/installed-dev ] || $(PIP) install --editable '.[pipeline]'
	@touch $@
