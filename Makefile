# The front door. `make` builds, `make test` is what CI runs besides its own set-up.
GO      ?= go
FUZZ    ?= 20000x
BIN     := bin/gdsproof
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
export CGO_ENABLED = 0

.PHONY: all build test race vet staticcheck unit fuzz arm64 bench bench-gpu FORCE vuln docs clean

all: build

build:
	$(GO) build -trimpath -ldflags "-X gdsproof/internal/cli.version=$(VERSION)" -o $(BIN) ./cmd/gdsproof

test: vet staticcheck unit race fuzz vuln

vet:
	$(GO) vet ./...
	@out=$$(gofmt -l cmd internal); if [ -n "$$out" ]; then echo "not gofmt-ed: $$out"; exit 1; fi

# The tool's version is pinned here and not in go.mod: the product does not depend on it.
staticcheck:
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

unit:
	$(GO) test ./...

# The race detector is C inside, so this is the one part that needs a C compiler.
race:
	CGO_ENABLED=1 $(GO) test -race ./...

# The packages that call C, on an emulated arm64. As root; the script names the Debian packages it needs.
arm64:
	scripts/arm64.sh

# A short run of every fuzz test: enough to try the seeds and what lies near them. It is a number of inputs, since Go's
# fuzzer can report its own deadline (FUZZ=1m) as "context deadline exceeded", a failure without an input.
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz' || true); do \
	    echo "fuzz $$pkg $$f"; \
	    $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZ) -fuzzminimizetime=1x $$pkg >.fuzz.log 2>&1 || { cat .fuzz.log; exit 1; }; \
	  done; \
	done; rm -f .fuzz.log

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# Needs a GPU, libcufile and a folder DIR on a file system that cuFile can use (scripts/lab-loop.sh makes one): the engine
# beside the plainest C loop, and beside gdsio where GDSIO names it.
bench-gpu: bin/benchgpu bin/loop
	bin/benchgpu -dir $(DIR) -loop bin/loop $(if $(LIBCUFILE),-lib $(LIBCUFILE)) $(if $(GDSIO),-gdsio $(GDSIO))

bin/benchgpu: FORCE
	$(GO) build -trimpath -o $@ ./internal/load/benchgpu

bin/loop: internal/load/benchgpu/testdata/loop.c
	mkdir -p bin
	gcc -O2 -pthread -o $@ $< -ldl

FORCE:

# Needs the vulnerability database; where it does not answer, this is skipped and says so.
vuln:
	@if $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./... >.vuln.log 2>&1; then echo "govulncheck: nothing found"; \
	elif grep -q -i -E 'dial tcp|no such host|connection refused|i/o timeout|Forbidden|x509|fetching vulnerabilities|Service Unavailable|Bad Gateway' .vuln.log; then \
	  echo "SKIPPED govulncheck: the vulnerability database does not answer"; tail -1 .vuln.log; \
	else cat .vuln.log; rm -f .vuln.log; exit 1; fi; rm -f .vuln.log

clean:
	rm -rf bin .fuzz.log .vuln.log
