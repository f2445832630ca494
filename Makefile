# Everything a person or a pipeline runs. Only Go and its module proxy are needed.

GO     ?= go
SEEDS  ?= 1000
BUDGET ?= 0
MUTANTS    ?= 600
MUTANT_CPU ?= 60s
WORKERS    ?= 1
FLEET_SEEDS ?= 20000
NIGHTLY ?= 4h
BASE       ?= main
KILLS      ?= 300
LOAD       ?= 10m
ATTACK     ?= 1m
FUZZTIME   ?= 10m
TOOL   := bin/shardproof

.PHONY: run test race fuzz bench bench-table bench-parts bench-against bench-long lint demo gate soak sweeps race-sweep small-histories planted-replies driver-suite shells attack attack-known-bugs test-containers figures doc-commands mutation reach kills live-race live-bench live-fuzz live-nightly page-test page-shots fleet nightly build clean

## run: a thousand seeds of the standard campaign, every history checked
run: build
	$(TOOL) run --seeds $(SEEDS)

## test: every test; needs no service, under three minutes on two cores
test:
	$(GO) test ./...

## race: the same with the race detector; it sees goroutines of the tool, not tasks of a world (docs/verdicts.md)
race:
	$(GO) test -race -short ./...

## fuzz: every parser, and check as a whole: all targets that there are, each for FUZZTIME
fuzz:
	git grep -o '^func Fuzz[A-Za-z0-9]*' -- '*_test.go' | sed 's/:func / /' | \
	while read -r file target; do \
		$(GO) test "./$$(dirname "$$file")" -run '^$$' -fuzz "^$$target\$$" \
			-fuzztime $(FUZZTIME) -fuzzminimizetime 100x </dev/null || exit 1; \
	done

## bench: benchmarks of the executor, the checkers and whole runs
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./system/... ./checkers/... ./harness/...

## bench-table: steps and allocations of a seed, into docs/speed.md; a test holds them to it
bench-table:
	$(GO) run ./ci/speed -write

## bench-parts: processor time of a seed by part, from a profile, into docs/speed.md
bench-parts:
	$(GO) run ./ci/speed -parts -write

## bench-long: what checking long histories costs, up to ten million operations, into docs/speed.md
bench-long:
	$(GO) run ./ci/longhistory -write

## bench-against: processor time of the same seeds on the commit BASE and on this tree, as a ratio
bench-against:
	$(GO) run ./ci/speed -against $(BASE)

## lint: formatting, vet, the determinism analyzer, the package graph, the shape of the code, citations
lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) test -count=1 ./ci/citations ./ci/determinism ./ci/imports ./ci/shape

## demo: a campaign on a build with one known bug: a failure is found, explained and replayed
demo:
	$(GO) run ./ci/gate -demo reloads-before-deletes

## gate: every known bug must be found within its budget of seeds; BUDGET=200 takes only those that small budgets must find
gate:
	$(GO) run ./ci/gate -budget $(BUDGET)

## soak: twenty thousand seeds; prints the table of faults in every state
soak: build
	$(TOOL) run --seeds 20000 --table

## sweeps: every single fault in four scenarios, and the matrices in docs/sweeps.md
sweeps: build
	rm -rf out/sweeps
	$(TOOL) sweep --out out/sweeps/migration --matrix docs/sweeps.md migration
	$(TOOL) sweep --out out/sweeps/migration-4.2 --matrix docs/sweeps.md --protocol 4.2 migration
	$(TOOL) sweep --out out/sweeps/move-primary --matrix docs/sweeps.md move-primary
	$(TOOL) sweep --out out/sweeps/deletion --matrix docs/sweeps.md deletion

## race-sweep: every pair of activities, one held at each of its sites until the other has passed each of its own; resumable
race-sweep: build
	$(TOOL) sweep race --keep-going --out out/sweep-race --matrix docs/race-sweep.md

## small-histories: a million small histories; none of a perfect store fails, and no verdict differs from that of a search
small-histories:
	$(GO) test -count=1 -timeout 2h -run NoFalseAlarm ./checkers -rapid.checks 1000000
	$(GO) test -count=1 -timeout 2h -run TestAgreesWithSearch -v ./checkers/linearize -histories 125000

## planted-replies: routers give a wrong answer, one of each field and way at a time: the seed that finds it
planted-replies:
	$(GO) test -count=1 -timeout 1h -run TestPlanted -v ./harness/shardstore

## driver-suite: the tests of MongoDB's Go driver against a simulated cluster, or the one at MONGODB_URI, compared with the expected failures
driver-suite:
	$(GO) run ./ci/driversuite -uri "$(MONGODB_URI)"

## shells: a session of npm's driver and one of mongosh with a cluster of real processes; needs npm, and fetches both
shells: build
	ci/shells/run

## figures: counts what there is, for the table of README.md
figures:
	$(GO) run ./ci/figures -write

## doc-commands: every command that README.md and docs/start.md print, run in a fresh clone
doc-commands:
	SHARDPROOF_DOC_COMMANDS=1 $(GO) test -count=1 -timeout 40m -run TestCommands -v ./ci/docs

## mutation: MUTANTS small bugs made by rules, tried one by one; resumes where it stopped; report in ci/mutation/TABLE.md
mutation:
	$(GO) run ./ci/mutation -sample $(MUTANTS) -cpu $(MUTANT_CPU) -workers $(WORKERS) -report ci/mutation/TABLE.md

## reach: parts of the store that SEEDS generated scenarios hardly ever reach
reach:
	$(GO) run ./ci/reach -seeds $(SEEDS)

## kills: KILLS times SIGKILL at random moments to processes of a live cluster under load; no acknowledged write may be lost
kills: build
	$(GO) run ./ci/kills -kills $(KILLS)

## attack: servers as processes, with movements and every kind of fault, for LOAD; controls first
attack: build
	$(TOOL) attack --for $(LOAD)

## attack-known-bugs: servers with known bugs, as processes under attack: each must be found; the time to each
attack-known-bugs: build
	$(GO) run ./ci/livebugs

## test-containers: a whole cluster in Docker containers under attack for ATTACK; needs Docker
test-containers:
	cd ci/containers && $(GO) test -count=1 -timeout 30m -run TestAttack -v . -containers -attack $(ATTACK)

## live-race: a live cluster under load for LOAD, with the race detector
live-race:
	$(GO) test -race -count=1 -timeout 1h -run TestLoad -v ./system/live/process -load $(LOAD)

## live-bench: operations a second and their latencies in a live cluster of this machine
live-bench: build
	$(GO) run ./ci/livebench

## live-fuzz: hostile bytes for the ports of nodes and of clients, each target for FUZZTIME
live-fuzz:
	for target in FuzzFrame:./system/live/tcp FuzzConnection:./system/live/tcp \
			FuzzRead:./system/wire/frame; do \
		$(GO) test $${target#*:} -run '^$$' -fuzz "^$${target%%:*}$$" -fuzztime $(FUZZTIME) || exit 1; \
	done

## live-nightly: what real servers must pass every night: the driver's tests, kills, load with the race detector, hostile bytes
live-nightly: driver-suite kills live-race live-fuzz

## fleet: FLEET_SEEDS seeds by eight processes, two of them killed: seed for seed what one process finds
fleet: build
	rm -rf out/fleet
	$(GO) run ./ci/fleet -seeds $(FLEET_SEEDS)

## nightly: for NIGHTLY, looks for known bugs and for new ones, and remembers them in out/nightly; red for what is new
nightly: build
	$(GO) run ./ci/nightly -for $(NIGHTLY)

## page-test: every page in headless Chromium, which must be installed
page-test:
	$(GO) test -count=1 -v -run 'Page|Light|Errors|Opens|InBrowser|Colours' -tags browser ./harness/report ./harness/overview
	$(GO) test -count=1 -v -tags browser ./ci/chromium

## page-shots: pictures of pages for the documentation, after make demo
page-shots:
	$(GO) test -count=1 -timeout 20m -tags browser -run 'Pictures|Attack' ./ci/chromium \
		-demo "$$(pwd)" -pictures "$$(pwd)/docs/pictures"

build:
	@mkdir -p bin
	$(GO) build -o $(TOOL) ./cmd/shardproof

clean:
	rm -rf bin out
