# Every target does its own set-up; all it needs is Python 3.11+, git and make.
SHELL := /bin/bash
.DEFAULT_GOAL := help
UV = $(shell ./scripts/ensure-uv)
RUN = $(UV) run --locked --quiet
# More than cores: many tests wait for a timer, a process or a browser.
WORKERS ?= 4
# A machine may set this to keep folders clean; it makes every start compile everything again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

.PHONY: setup
setup: ## Install everything into .venv
	@$(UV) sync --locked --quiet

.PHONY: demo
demo: ## The main job: from one sentence to a flow that ran, survives a kill, and left evidence
	@$(UV) sync --locked --quiet --no-dev --inexact
	@$(UV) run --no-sync python examples/demo.py

.PHONY: demo-model
demo-model: ## The same with a local 1.5B language model (downloads 1.1 GB once)
	@$(UV) sync --locked --quiet --no-dev --inexact --extra local
	@$(UV) run --no-sync python examples/demo_model.py

.PHONY: start
start: ## Start the studio, and build its page where it changed
	@$(UV) sync --locked --quiet --no-dev --inexact
	@./scripts/build-page
	@$(UV) run --no-sync headgate serve

.PHONY: test
test: setup page ## Every test: units, architecture, both databases, real processes, a real browser
	@./scripts/ensure-browser >/dev/null
	@./scripts/ensure-mariadb >/dev/null
	@./scripts/ensure-rabbitmq >/dev/null
	@./scripts/ensure-tesseract >/dev/null
	@./scripts/ensure-azurite >/dev/null
	@$(RUN) python -m tests.support.openid_provider
	@./scripts/npm test
	@$(RUN) ./scripts/run-tests tests --ignore=tests/e2e --ignore=tests/flowise -n $(WORKERS) --dist loadgroup
	@$(RUN) ./scripts/run-tests tests/e2e -n $(WORKERS) --dist loadgroup # apart: the browser's driver keeps a loop of its own running

.PHONY: test-unit
test-unit: setup ## The quick tests: units and architecture, fewer made-up cases of each property
	@HEADGATE_EXAMPLES=quick $(RUN) pytest -n $(WORKERS) --dist loadgroup

.PHONY: test-page
test-page: setup page ## The page's own tests, and those in a real browser
	@./scripts/ensure-browser >/dev/null
	@./scripts/npm test
	@$(RUN) ./scripts/run-tests tests/e2e -n $(WORKERS) --dist loadgroup

.PHONY: test-flowise
test-flowise: setup ## The development agent against a real Flowise (the first time: 3 GB and ten minutes with npm)
	@./scripts/ensure-flowise >/dev/null
	@$(RUN) pytest tests/flowise -n 0 --timeout 600

.PHONY: check
check: setup ## Formatting, lint, types and floors
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) mypy
	@$(RUN) lint-imports
	@./scripts/npm run lint
	@./scripts/npm run types

.PHONY: format
format: setup ## Format and fix what can be fixed
	@$(RUN) ruff format .
	@$(RUN) ruff check --fix .
	@./scripts/npm run format

.PHONY: page
page: setup ## Build the studio's page where it changed
	@./scripts/build-page

.PHONY: page-dev
page-dev: setup ## The page at port 5173 while you work on it, in front of a server that runs at 7411
	@./scripts/npm run dev

.PHONY: web-api
web-api: setup ## Generate the page's types from the OpenAPI document
	@$(RUN) python scripts/write_openapi.py
	@./scripts/npm run api

.PHONY: schema
schema: setup ## Write the schema that new SQLite databases begin with, after adding migrations
	@$(RUN) python scripts/write_schema.py

.PHONY: docs
docs: setup ## Write the generated pages of docs/
	@$(RUN) python -m docs.generate

.PHONY: docs-site
docs-site: setup ## Build the documentation site into build/docs-site (needs no network; broken links fail)
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict --quiet
	@echo "Read it: python3 -m http.server --bind 127.0.0.1 --directory build/docs-site 8000"

.PHONY: screenshots
screenshots: setup page ## Take the pictures of docs/screenshots again
	@./scripts/ensure-browser >/dev/null
	@$(RUN) python -m docs.take_screenshots

.PHONY: bench
bench: setup page ## Every benchmark, quick, with tables and pictures in .benchmarks/
	@mkdir -p .benchmarks
	@for name in startup scale engine rest identity assistant sandbox workers mcp page canvas codev fairness waiting triggers alerts knowledge knowledge_leaks; do \
	  $(RUN) --group bench python -m benchmarks.$$name --quick --json .benchmarks/$$name.json || exit 1; done

.PHONY: test-faults
test-faults: export HEADGATE_EXAMPLES = thorough
test-faults: setup page ## All that `make test` does a part of: simulation (30 min), fuzzing (10 min a target), faults (SCALE=10), every test
	@SIMULATION_SECONDS=$${SIMULATION_SECONDS:-1800} $(RUN) pytest tests/simulation -n 1 --timeout 0
	@HEADGATE_FAULTS=$${SCALE:-10} $(RUN) pytest tests/integration/faults -n $(WORKERS) --timeout 0
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(RUN) pytest tests/fuzz -n $(WORKERS) --timeout 0
	@HEADGATE_FUZZ=$${HEADGATE_FUZZ:-20} $(RUN) pytest tests/integration/http/test_fuzz.py -n $(WORKERS) --timeout 0
	@$(RUN) pytest tests --ignore=tests/flowise --ignore=tests/e2e --ignore=tests/simulation --ignore=tests/fuzz \
	  --ignore=tests/integration/faults -n $(WORKERS) --dist loadgroup --timeout 0
	@$(RUN) pytest tests/e2e -n $(WORKERS) --dist loadgroup --timeout 0

.PHONY: sbom
sbom: setup ## Write the software bill of materials of Python and of the page to dist/ (CycloneDX)
	@mkdir -p dist
	@$(UV) export --locked --quiet --no-dev --all-extras --format cyclonedx1.5 --output-file dist/headgate-python.cdx.json >/dev/null
	@./scripts/npm sbom --omit dev --sbom-format cyclonedx > dist/headgate-page.cdx.json

.PHONY: audit
audit: setup ## Check all locked packages for known vulnerabilities, offline against the last answers that were kept
	@$(RUN) python scripts/audit.py --uv "$(UV)" --npm ./scripts/npm $(AUDIT)
