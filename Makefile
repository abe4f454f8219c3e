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

# They wait for servers of their own most of the time.
CLUSTER := tests/pipeline/test_cluster.py tests/pipeline/spark/test_object_store.py

# The tests of what runs in one process: no Spark, no browser, and no installed command.
QUICK := tests/text tests/model tests/engine tests/compat tests/codec tests/fixes tests/sources \
  tests/test_rules.py tests/test_compat_rules.py tests/test_versions.py tests/test_imports.py
# Work on whole real sets takes longer than a hand waits.
WHOLE := tests/fixes/test_samples.py tests/fixes/test_kip1313.py tests/fixes/test_bump.py \
  tests/codec/test_other_readers.py tests/compat/test_history.py

# For the comparison with Kafka's generator: a checkout of Kafka, a directory with the generator's jars, and which mutations.
KAFKA :=
JARS :=
SEED := 1

# The tag that a release is made of, which its version has to match.
TAG :=

# More for the benchmark of the pipeline, as in `make bench-pipeline BENCH_ARGS="--sizes 1000,10000"`.
BENCH_ARGS :=

# More for the benchmark of growth, as in `make bench-growth GROWTH_ARGS="increment forks"`.
GROWTH_ARGS :=

# More for the demo of the pipeline, as in `make pipeline-demo DEMO_ARGS=--kafka`, for the history in KIPLINT_CORPUS.
DEMO_ARGS :=

# More for the kills of the pipeline, as in `make pipeline-faults FAULTS_ARGS="--moments 3"`.
FAULTS_ARGS :=

# More for the benchmark of hostile input, as in `make bench-hostile HOSTILE_ARGS="--only chain"`.
HOSTILE_ARGS :=

# More for the fuzzer, as in `make fuzz FUZZ_ARGS="--seconds 600 --surface decoder"`.
FUZZ_ARGS :=

# Hashes for all systems and Pythons; uv knows pip's constraints, but none of pip's settings.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
  --constraint constraints.txt --custom-compile-command 'make lock'
BACKEND := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")

# Older pips read build requirements' pins from the first of these, newer ones from the second. The path is
# relative because pip splits these values at blanks, and a checkout may lie in a directory with a blank in its name.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Without kept bytecode, every start compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help check test test-quick test-oldest test-install test-cluster lint lock release-check precision new-rule laws properties witnesses equality corpus verdicts bench bench-hostile fuzz bench-pipeline bench-growth pipeline-demo pipeline-faults docs consoles pictures site editor code-server snapshots clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

check: $(VENV)/installed $(VENV)/packs ## install kiplint into .venv and check the schemas that come with it
	@$(BIN)/kiplint check $(GOOD)

test: $(VENV)/installed-dev $(VENV)/packs ## run the tests
	@$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder --ignore tests/install $(CLUSTER:%=--ignore %) $(PYTEST_ARGS)

test-quick: $(VENV)/installed-dev $(VENV)/packs ## run the tests that need no Spark, browser, installed command or whole real set, for the hand
	@$(BIN)/pytest -n 2 $(QUICK) $(WHOLE:%=--ignore %) $(PYTEST_ARGS)

test-oldest: .venv-oldest/installed-oldest ## run the tests with the oldest dependencies that pyproject.toml allows
	@.venv-oldest/bin/pytest -W ignore::DeprecationWarning -n 3 --dist loadfile --no-loadscope-reorder --ignore tests/install $(PYTEST_ARGS)

test-install: $(VENV)/installed-release $(VENV)/installed-docs ## run the tests that build environments out of a package index
	@$(BIN)/pytest -n 2 --dist loadfile $(PYTEST_ARGS) tests/install

test-cluster: $(VENV)/installed-dev $(VENV)/packs ## run the tests that start a Spark cluster, or an object store beside Spark
	@$(BIN)/pytest -n 2 --dist loadfile $(PYTEST_ARGS) $(CLUSTER)

lint: $(VENV)/installed-dev ## run ruff, mypy and the import contracts
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

lock: $(VENV)/installed ## write requirements/, the same versions with their hashes, out of pyproject.toml and constraints.txt
	@$(PIP) install --upgrade pip
	@$(PIP) install --group lock
	@$(LOCK) --output-file requirements/run.txt pyproject.toml
	@$(BIN)/python -c '$(BACKEND)' | $(LOCK) --output-file requirements/build.txt -

release-check: $(VENV)/installed-release ## build what a release uploads into ./dist, check it, and run it out of empty environments
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist .
	@$(BIN)/twine check --strict dist/*
	@$(BIN)/python scripts/try_out.py dist --tag '$(TAG)'

laws: $(VENV)/installed-dev $(VENV)/packs ## hold the two readers of command lines to their law, on 20,000 lines
	@KIPLINT_LAW_EXAMPLES=20000 $(BIN)/pytest -q -s tests/cli/test_reader.py -k small_reader $(PYTEST_ARGS)

properties: $(VENV)/installed-dev $(VENV)/packs ## try 2,000 examples of each property that tests state, other ones in each run
	@$(BIN)/pytest -n 2 --hypothesis-profile explore -m hypothesis --ignore tests/install $(PYTEST_ARGS)

witnesses: $(VENV)/installed-dev $(VENV)/packs ## hold breaks of bytes and their proofs to be the same, over 5,000 generated evolutions
	@KIPLINT_WITNESS_EXAMPLES=5000 $(BIN)/pytest -q -s tests/compat/test_witness.py -k breaks_and_witnesses $(PYTEST_ARGS)

equality: $(VENV)/installed-dev $(VENV)/packs ## hold a lake of Kafka's history to what check, diff and negotiate say, of every revision
	@KIPLINT_EQUALITY_SAMPLE=1000 $(BIN)/pytest -q -s tests/pipeline/spark/test_equality.py $(PYTEST_ARGS)

precision: $(VENV)/installed-dev $(VENV)/packs ## measure what rules find in Kafka's releases, pull requests and forks, and write docs/precision.json and docs/pull_requests.json
	@$(BIN)/python scripts/precision.py
	@$(BIN)/python scripts/pull_requests.py

new-rule: $(VENV)/installed-dev ## begin a rule: make new-rule ID=pack/name
	@$(BIN)/python scripts/new_rule.py '$(ID)'
	@$(BIN)/pytest tests/test_rules.py -k '$(ID)' --snapshot-update

corpus: $(VENV)/created ## make the corpus of real schemas in ../shared/corpus, out of public repositories
	@$(BIN)/python scripts/make_corpus.py ../shared/corpus

verdicts: $(VENV)/installed $(VENV)/packs ## compare kiplint's verdicts with those of Kafka's generator: make verdicts KAFKA=checkout JARS=directory
	@$(BIN)/python scripts/compare_generator.py '$(KAFKA)' '$(JARS)' --seed $(SEED)

bench: $(VENV)/installed-dev $(VENV)/packs ## measure kiplint beside its peers and write benchmarks/RESULTS.md
	@$(BIN)/python -m benchmarks

bench-hostile: $(VENV)/installed-dev $(VENV)/packs ## measure how time and memory grow with hostile input and write benchmarks/HOSTILE.md
	@$(BIN)/python -m benchmarks.hostile $(HOSTILE_ARGS)

fuzz: $(VENV)/installed-dev $(VENV)/packs ## read damaged input on every surface, a minute each, and keep what fails below tests/fuzz/corpus
	@$(PIP) install --group fuzz || echo 'atheris does not install here: going on without it'
	@$(BIN)/python -m benchmarks.fuzz $(FUZZ_ARGS)

bench-pipeline: $(VENV)/installed-dev $(VENV)/packs ## measure the pipeline's lint stage up to a million definitions and write benchmarks/PIPELINE.md
	@$(BIN)/python -m benchmarks.pipeline $(BENCH_ARGS)

bench-growth: $(VENV)/installed-dev $(VENV)/packs ## measure how the pipeline's time and memory grow with commits, forks and sources, and write benchmarks/GROWTH.md
	@$(BIN)/python -m benchmarks.growth $(GROWTH_ARGS)

pipeline-demo: $(VENV)/installed-pipeline $(VENV)/packs ## run the pipeline on a sample history, and show its report
	@$(BIN)/python -m benchmarks.demo $(DEMO_ARGS)

pipeline-faults: $(VENV)/installed-dev $(VENV)/packs ## kill the pipeline at 20 moments, also between data and commit, resume, tidy up, and compare
	@$(BIN)/python -m benchmarks.faults $(FAULTS_ARGS)

docs: $(VENV)/installed-dev $(VENV)/packs ## write the generated pages of docs/, and the generated parts of others
	@$(BIN)/python docs/generate.py

consoles: $(VENV)/installed-dev $(VENV)/packs ## run the commands that README.md and the guide show, and write their outputs
	@$(BIN)/python docs/consoles.py

pictures: $(VENV)/installed-dev $(VENV)/packs ## take the pictures of the guide; needs Chromium
	@$(BIN)/python docs/pictures.py

site: $(VENV)/installed-docs $(VENV)/packs ## build the site into ./site, with the reference of the Python API, of facts and of schemas
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

editor: ## build the extension for VS Code, editors/vscode/kiplint.vsix; needs Node.js
	@cp LICENSE editors/vscode/LICENSE
	@cd editors/vscode && npm ci --no-audit --no-fund --silent && npx --no-install vsce package --out kiplint.vsix

code-server: ## install code-server, a VS Code that runs in a browser, for the test of the extension; needs Node.js 20
	@scripts/install_code_server.sh

snapshots: $(VENV)/installed-dev $(VENV)/packs ## accept what the rules now say about their fixtures, and the plans of Spark
	@$(BIN)/pytest tests/test_rules.py tests/test_compat_rules.py tests/pipeline/spark/test_plans.py --snapshot-update

clean: ## remove .venv, caches and build results
	@rm -rf $(VENV) .venv-oldest build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src/kiplint/compiled -name '*.py' ! -name __init__.py -delete
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
	@touch $@ $(VENV)/packs

# Installing compiles the rule packs too; after an edit they are compiled anew at each start, until this has run.
$(VENV)/packs: $(VENV)/installed hatch_build.py $(wildcard rules/*.json src/kiplint/engine/*.py)
	@$(BIN)/python hatch_build.py
	@$(BIN)/python -m compileall -q src/kiplint/compiled
	@touch $@

# Dependency groups need pip 25.1, which no supported Python is sure to bring along. Spark is most of what is installed.
$(VENV)/installed-dev: $(VENV)/installed
	@echo "Installing the tools of the tests into $(VENV)"
	@$(PIP) install --upgrade pip
	@$(PIP) install --group dev --editable '.[bytes,lsp,pipeline]'
	@touch $@

# The extra without the tools of the tests; an environment for development has it already.
$(VENV)/installed-pipeline: $(VENV)/installed
	@[ -e $(VENV)/installed-dev ] || echo "Installing Spark into $(VENV)"
	@[ -e $(VENV)/installed-dev ] || $(PIP) install --editable '.[pipeline]'
	@touch $@

# Another environment: as the one for development, with the lower bounds of what a user installs put in last.
.venv-oldest/installed-oldest: pyproject.toml constraints.txt
	@$(MAKE) --no-print-directory VENV=.venv-oldest .venv-oldest/installed-dev
	@.venv-oldest/bin/python -m pip -qq install --group lock
	@.venv-oldest/bin/uv pip compile --quiet --resolution lowest-direct --extra bytes --extra lsp --extra pipeline --output-file .venv-oldest/oldest.txt pyproject.toml
	@PIP_CONSTRAINT= .venv-oldest/bin/python -m pip -q install --requirement .venv-oldest/oldest.txt
	@touch $@

$(VENV)/installed-release: $(VENV)/installed-dev
	@$(PIP) install --group release
	@touch $@

# The site's generator is as large as everything else together, and only `make site` needs it.
$(VENV)/installed-docs: $(VENV)/installed-dev
	@$(PIP) install --group docs
	@touch $@
