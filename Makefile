# Each target does its own set-up; a bare `make` lists them.

PYTHON ?= python3
WORKERS ?= 2
FUZZ_SECONDS ?= 600

# Hundreds of tests start a command: each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
INSTALLED := .venv/.installed
LIGHT := .venv/.installed-light
# Why conjunct must be installed again.
CHANGES := pyproject.toml constraints.txt hatch_build.py $(wildcard src/conjunct/columns/native/*.[ch])
INSTALL := $(BIN)/python tools/install.py
PINNED := -c constraints.txt -e

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all coverage coverage-core test-part test-min test-new wheel check lint-workflows audit bench bench-page quality fuzz docs picture map browser databases java

help:
	@echo "conjunct: run make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 13

demo: $(LIGHT)  ## construct features on the bundled data and show them
	$(BIN)/conjunct demo

test: $(INSTALLED) $(INSTALLED)-spark browser databases java  ## run the tests, except the slow ones
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-all: $(INSTALLED) $(INSTALLED)-spark browser databases java  ## run every test, on more examples
	HYPOTHESIS_PROFILE=all $(BIN)/pytest -n $(WORKERS) --dist worksteal

# Where the disk is full, coverage cannot write what it found.
coverage: $(INSTALLED) $(INSTALLED)-spark browser databases java  ## run the tests, except the slow ones, and list lines and branches that none runs; fail if they are many
	@mkdir -p build/coverage
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow" -k "not full_disk" --cov --cov-report=term --cov-report=html
	@echo "Open build/coverage/html/index.html"

# Folders whose tests take seconds, and bound no times: coverage makes tests slower.
CORE := columns features trees
CORE_FLOOR := 83
coverage-core: $(INSTALLED)  ## run the tests of columns, features and trees, and fail below their floor of coverage
	@mkdir -p build/coverage
	$(BIN)/pytest $(CORE:%=tests/%) -n $(WORKERS) --dist worksteal -m "not slow" $(CORE:%=--cov=conjunct.%) --cov-report=term --cov-fail-under=$(CORE_FLOOR)

test-part: $(INSTALLED)  ## run the tests of one part in seconds: make test-part PART=ufc
	$(BIN)/pytest tests/$(PART) -m "not slow"

test-min: .venv-min/.installed  ## run the tests on the oldest allowed versions of the main dependencies
	.venv-min/bin/pytest -n $(WORKERS) --dist worksteal -m "not slow" -W default --ignore tests/test_docs.py --ignore tests/report

test-new: .venv-new/.installed  ## run the tests on the newest versions of everything
	.venv-new/bin/pytest -n $(WORKERS) --dist worksteal -m "not slow"

wheel: $(INSTALLED) $(INSTALLED)-release  ## build what a release has for this machine into dist/, and try it without extras or compiler
	@rm -rf dist build/wheel
	CONJUNCT_NATIVE=required $(BIN)/python -m build --no-isolation --wheel -o build/wheel
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m auditwheel repair -w dist build/wheel/*.whl
	CONJUNCT_NATIVE=none $(BIN)/python -m build --no-isolation --wheel -o dist
	$(BIN)/python -m build --no-isolation --sdist -o dist
	$(BIN)/pytest tests/test_packaging.py

check: $(INSTALLED)  ## lint, formatting, types, direction of imports, measures of the code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/house.py

lint-workflows: $(INSTALLED) $(INSTALLED)-release  ## check the workflows of .github
	$(BIN)/zizmor --offline --no-progress .github

audit: $(BIN)/python  ## compare the pinned versions with the published advisories; needs a network
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m pip_audit --requirement constraints.txt --no-deps --disable-pip --strict $(AUDIT)

map: $(BIN)/python  ## draw which folders import which, into CONTRIBUTING.md
	$(BIN)/python tools/map.py

bench: $(INSTALLED) $(INSTALLED)-bench  ## measure against other libraries, side by side
	$(BIN)/python -m benchmarks

bench-page: $(INSTALLED) $(INSTALLED)-bench  ## measure what the pages show, and write it there
	-$(BIN)/python -m benchmarks limit rivals growth scaling bits evidence default chance merges expected transform classifying rounds
	-$(BIN)/python -m benchmarks rivals --default
	$(BIN)/python -m benchmarks._page

quality: $(INSTALLED) $(INSTALLED)-bench  ## compare representations on many data sets, and write docs/learning.md
	-$(BIN)/python -m benchmarks quality
	$(BIN)/python -m benchmarks.quality.page

fuzz: $(INSTALLED) $(INSTALLED)-fuzz  ## fuzz: property tests on thousands of examples, then each target guided by coverage
	HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest -n $(WORKERS) --dist worksteal -m hypothesis --timeout 0
	for target in parser model classifier groups readers tags command; do \
	  $(BIN)/python tests/fuzz/guided.py $$target --seconds $(FUZZ_SECONDS) || exit 1; \
	done

docs: $(INSTALLED) $(INSTALLED)-docs  ## run every example of README.md and docs/, build the site
	$(BIN)/pytest tests/test_docs.py
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d build/doctrees docs site
	@echo "Open site/index.html"

picture: $(INSTALLED) browser  ## make the pictures that README.md and the first pages show
	$(BIN)/python docs/picture.py
	$(BIN)/python docs/draw.py

# Spark is tested on this machine, which takes Java. Where it cannot be installed, those tests are skipped.
java:
	@command -v java >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && \
	  echo "Installing Java for the tests of Spark" && \
	  apt-get update >/dev/null 2>&1 && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y default-jre-headless >/dev/null 2>&1; \
	} || true

# The report is tested in a real browser. Where it cannot be installed, those tests are skipped.
browser:
	@command -v chromedriver >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && \
	  echo "Installing Chromium for the tests of the report" && \
	  apt-get update >/dev/null 2>&1 && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y chromium chromium-driver >/dev/null 2>&1; \
	} || true

# Exported SQL is run in real servers, which the tests start. Where they cannot be installed, those
# tests are skipped. Debian would start a server of its own on installation: it is told not to.
databases:
	@{ command -v mariadbd >/dev/null 2>&1 || [ -x /usr/sbin/mariadbd ]; } && \
	  { command -v postgres || ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && \
	  echo "Installing PostgreSQL and MariaDB for the tests of exported SQL" && \
	  apt-get update >/dev/null 2>&1 && mkdir -p /etc/postgresql-common && \
	  { [ -e /etc/postgresql-common/createcluster.conf ] || \
	    echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf; } && \
	  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends \
	    postgresql mariadb-server >/dev/null 2>&1; \
	} || true

# Only what is imported is compiled: the first finding is there sooner.
$(LIGHT): $(BIN)/python $(CHANGES)
	@$(INSTALL) "what the demo needs into .venv" --no-compile $(PINNED) '.[cli,report]'
	@touch $@

$(INSTALLED): $(BIN)/python $(CHANGES)
	@$(INSTALL) "conjunct and its tools into .venv" $(PINNED) '.[all,dev]'
	@touch $@ $(LIGHT)

$(INSTALLED)-fuzz: $(INSTALLED)
	@$(INSTALL) "the fuzzer" $(PINNED) '.[fuzz]'
	@touch $@

$(INSTALLED)-release: $(INSTALLED)
	@$(INSTALL) "what a release needs" $(PINNED) '.[release]'
	@touch $@

# half a gigabyte, which only the tests need
$(INSTALLED)-spark: $(INSTALLED)
	@$(INSTALL) "Spark for the tests" $(PINNED) '.[spark]'
	@touch $@

$(INSTALLED)-bench: $(INSTALLED)
	@$(INSTALL) "what the benchmarks need" $(PINNED) '.[bench,spark]'
	@touch $@

$(INSTALLED)-docs: $(INSTALLED)
	@$(INSTALL) "what the site needs" $(PINNED) '.[docs]'
	@touch $@

.venv-min/.installed: $(BIN)/python pyproject.toml constraints-min.txt
	@$(PYTHON) -m venv .venv-min
	@.venv-min/bin/python tools/install.py "the oldest versions into .venv-min" -c constraints-min.txt -e '.[all,test]'
	@touch $@

# Always newer than yesterday, so that it is made again each time.
.PHONY: .venv-new/.installed
.venv-new/.installed:
	@$(PYTHON) -m venv .venv-new
	@.venv-new/bin/python tools/install.py "the newest versions into .venv-new" --upgrade --upgrade-strategy eager -e '.[all,dev]'

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "conjunct needs Python 3.11 or newer: '$(PYTHON)' was not found; name one with make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "conjunct needs Python 3.11 or newer: '$(PYTHON)' is older; name one with make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv .venv
