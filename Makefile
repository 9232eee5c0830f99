# Front door. CMake does the building; this knows the order of things. `make` alone lists what there is.
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
ARGS ?=
export JOBS FUZZ_SECONDS

CMAKE ?= cmake
RELEASE := build/release
NINJA := ninja -j $(JOBS)

.PHONY: help serve build test test-long bench fuzz asan tsan lint format clean deps-build deps-test deps-lint \
  configure-build configure-test
.DEFAULT_GOAL := help
# The order of the prerequisites is meant: packages, then configure, then build. Ninja does the work side by side.
.NOTPARALLEL:

help: ## list the targets
	@echo "usage: make TARGET [ARGS='...'] [JOBS=$(JOBS)]"
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-12s %s\n", $$1, $$2}'

serve: build ## build the broker and run it; ARGS="--config server.properties -o key=value"
	exec $(RELEASE)/thalweg serve $(ARGS)

build: deps-build configure-build ## build the broker: build/release/thalweg
	$(NINJA) -C $(RELEASE) thalweg

test: deps-test configure-test ## build everything and run every suite; ARGS="unit compare", ARGS="--without clients"
	$(NINJA) -C $(RELEASE)
	scripts/test $(ARGS)

test-long: deps-test configure-test ## the same with the long tests, the sanitizers and FUZZ_SECONDS of each fuzz target
	$(NINJA) -C $(RELEASE)
	scripts/test --long --with asan,tsan $(ARGS)
	scripts/fuzz

asan: deps-test ## unit tests with the address and undefined-behaviour sanitizers
	scripts/sanitize asan

tsan: deps-test ## concurrent tests with the thread sanitizer
	scripts/sanitize tsan

fuzz: deps-test ## run each fuzz target for FUZZ_SECONDS=60; ARGS="NAME_fuzz" for one
	scripts/fuzz $(ARGS)

bench: deps-test ## compare with Apache Kafka on this machine; ARGS="--full", ARGS="--help"
	bench/run $(ARGS)

lint: deps-lint deps-test ## formatting, clang-tidy, documents, schemas, scripts, arrows between folders
	scripts/lint $(ARGS)

format: deps-lint ## format every C++ file in place
	git ls-files -co --exclude-standard -z -- '*.h' '*.cc' | xargs -0 ls 2>/dev/null | xargs -r -P $(JOBS) -n 40 clang-format-19 -i

clean: ## remove what was built; the test clients' downloads in build/clients stay
	[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name clients -exec rm -rf {} +

deps-build:
	@scripts/deps build

deps-test:
	@scripts/deps test

deps-lint:
	@scripts/deps lint

# The broker alone needs no GoogleTest. Once the tests were switched on they stay on: that changes nothing that is built
# for `make build`.
configure-build:
	@[ -e $(RELEASE)/build.ninja ] || $(CMAKE) --preset release -DTHALWEG_TESTS=OFF

configure-test:
	@{ [ -e $(RELEASE)/build.ninja ] && grep -qs '^THALWEG_TESTS:BOOL=ON' $(RELEASE)/CMakeCache.txt; } \
	  || $(CMAKE) --preset release -DTHALWEG_TESTS=ON
