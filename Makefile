# Every target installs what it needs first: nothing but Node.js 20 or newer, Go and make has to be there. `make test`
# also runs third-party clients, and wants a JDK 17, Maven, Python 3 and OpenSSL for them.
# ARGS passes options on: make demo ARGS=--once

.PHONY: help demo test crash lint generate site recording cluster clean soak bench image release push audit test-node test-inspector
.DEFAULT_GOAL := help

node := node_modules/node/bin/node

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## a Kubernetes API, the platform simulator and the operator on this machine, with samples applied
	@bin/mooring demo $(ARGS)

test: ## type check, lint and all tests; ARGS are files or options for vitest
	@bin/setup || { echo "0 passed, 1 failed"; exit 1; }
	@$(node) test/run/run.ts $(ARGS)

crash: ## kill the operator at every call of every kind's life and check what is left; ARGS=--help lists the options
	@bin/setup
	@$(node) test/crash/main.ts $(ARGS)

soak: ## four tenants, two operators, people and a bad platform for ten minutes; ARGS=--year: a year of tokens
	@bin/setup
	@$(node) test/soak/main.ts $(ARGS)

test-node: ## the chart on a node that runs pods: hand-over, 2,000 objects, rolling upgrade; as root; ARGS=--help lists the options
	@bin/setup
	@$(node) test/node/main.ts $(ARGS)

test-inspector: ## call every tool with the MCP inspector, which starts two programs for each
	@bin/setup
	@$(node) node_modules/vitest/vitest.mjs run --config test/inspector/vitest.config.ts

bench: ## all benchmarks, first Mooring against a plain operator in Go; ARGS=scale for that one, ARGS=--help tells all
	@bin/setup
	@$(node) bench/main.ts $(ARGS)

lint: ## type check and lint
	@bin/setup
	@$(node) node_modules/.bin/tsc --noEmit
	@$(node) node_modules/.bin/biome check .

generate: ## write what is made from the source: CRDs, rights, chart, install.yaml, reference pages, the table in README.md
	@bin/setup
	@$(node) generate/main.ts
	@$$(test/clients/setup-helm helm) template mooring deploy/chart --namespace mooring-system \
	  --values deploy/chart/install-values.yaml > deploy/kustomize/install.yaml

site: ## the documentation as a website, into dist/site: make site [BASE=/path/]
	@bin/setup
	@npm ci --prefix site --no-audit --no-fund --loglevel=error
	@$(node) site/build.ts --base "$(or $(BASE),/)"

recording: ## the picture of the commands in README.md, recorded with a demo; needs the command script of util-linux
	@bin/setup
	@$(node) recording/main.ts

cluster: ## a Kubernetes control plane on this machine, until Ctrl-C
	@bin/mooring cluster $(ARGS)

image: ## the container image, without a container engine; ARGS=--check also runs it, ARGS=--help lists the options
	@bin/setup
	@$(node) image/main.ts $(ARGS)

release: ## everything that a release has, into dist/release: make release VERSION=0.1.0 [REGISTRY=HOST/PATH] [KEY=FILE]
	@bin/setup
	@$(node) release/main.ts --version "$(VERSION)" --registry "$(REGISTRY)" --key "$(KEY)" $(ARGS)

push: ## image, chart and signatures of dist/release to a registry: make push REGISTRY=HOST/PATH
	@bin/setup
	@$(node) release/push.ts --registry "$(REGISTRY)" $(ARGS)

audit: ## ask the registry for known vulnerabilities of the dependencies; fails on high and critical ones
	@npm audit --audit-level=high $(ARGS)

clean: ## remove node_modules, dist and temporary files of this checkout
	rm -rf node_modules dist coverage .cache
	@echo "The control plane's binaries stay in $${XDG_CACHE_HOME:-$$HOME/.cache}/mooring"
