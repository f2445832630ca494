package oracle

import (
	"math"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// happening is an event at a time, in milliseconds, on a node.
type happening struct {
	at   int64
	node string
	e    interface{ Event() *trace.Event }
}

const ms = int64(time.Millisecond)

// told has an oracle observe a cluster of two shards of one member each, in which everybody leads
// and knows what it owns since the beginning, and then what happens.
func told(all []happening) *Oracle {
	o := New(nil)
	tell(o, all)
	return o
}

// tell is told of an oracle that knows something else.
func tell(o *Oracle, all []happening) {
	o.Limit(func() Limits { return Limits{Cursor: time.Second, Migration: time.Second} })
	step := uint64(0)
	observe := func(h happening) {
		step++
		e := h.e.Event()
		e.Step, e.At, e.Node = step, h.at*ms, h.node
		requested(o, e)
		o.Observe(e)
	}
	founded := placed("a", "", "m", "b", "m", "z")
	for _, node := range []string{"config.0", "a.0", "b.0"} {
		observe(happening{1, node, trace.ElectedEvent{Shard: shardOf(node), Term: 1}})
		observe(happening{2, node, trace.WritableEvent{Shard: shardOf(node), Term: 1}})
	}
	for _, shard := range []string{"a", "b"} {
		observe(happening{3, "config.0", trace.ClusterChangedEvent{
			Shard: "config", Term: 1, Index: 1, Peer: shard, Change: trace.ShardAdded,
		}})
	}
	observe(happening{3, "config.0", trace.CatalogWrittenEvent{
		Shard: "config", Term: 1, Index: 1, NS: "test.docs", Why: "founding", Chunks: founded,
	}})
	observe(happening{4, "config.0", trace.MajorityEvent{Shard: "config", Term: 1, Index: 1}})
	for i, node := range []string{"a.0", "b.0"} {
		observe(happening{5, node, trace.MetadataInstalledEvent{
			Shard: shardOf(node), NS: "test.docs", Chunks: founded[i : i+1],
		}})
	}
	for _, h := range all {
		observe(h)
	}
}

// placed are one chunk after the other: its shard, its first key, its end. Their versions count up.
func placed(words ...string) (all []trace.Chunk) {
	for i := 0; i < len(words); i += 3 {
		all = append(all, trace.Chunk{
			Shard: words[i], Min: words[i+1], Max: words[i+2], Major: 1, Minor: uint32(i / 3),
			Epoch: "e",
		})
	}
	return all
}

// refused is an answer of a.0 at 100ms to a request that came at 90ms.
func refused(request, code string, version ...trace.Chunk) happening {
	return happening{100, "a.0", trace.AnsweredEvent{
		Peer: "b.0", NS: "test.docs", Request: request, Code: code, Chunks: version,
		Arrived: 90 * ms,
	}}
}

// cursorIs is an answer of a.0 about cursor c; a lost one is what its client learns.
func cursorIs(at int64, state trace.CursorState, version ...trace.Chunk) happening {
	e := trace.CursorAnsweredEvent{
		Peer: "router.0", Cursor: "c", State: state, Arrived: (at - 1) * ms, Chunks: version,
	}
	if at < 20 {
		e.NS = "test.docs"
	}
	return happening{at, "a.0", e}
}

func donor(at int64, state trace.DonorState, named ...trace.Chunk) happening {
	return donorOf("m1", at, state, named...)
}

func donorOf(migration string, at int64, state trace.DonorState, named ...trace.Chunk) happening {
	return happening{at, "a.0", trace.DonorAdvancedEvent{
		Shard: "a", Peer: "b", NS: "test.docs", Min: "", Max: "m", Migration: migration,
		State: state, Chunks: named,
	}}
}

// answeredMove is the answer to a request to move a range.
func answeredMove(at, arrived int64) happening {
	return happening{at, "a.0", trace.AnsweredEvent{
		Peer: "config.0", NS: "test.docs", Request: "ShardsvrMoveRange", Arrived: arrived * ms,
	}}
}

func recipient(at int64, state trace.RecipientState) happening {
	return happening{at, "a.0", trace.RecipientAdvancedEvent{
		Shard: "a", Peer: "b", NS: "test.docs", Min: "m", Max: "z", Migration: "m2", State: state,
	}}
}

func ended(at int64, node, request, code string) happening {
	return happening{at, node, trace.CallEndedEvent{
		Peer: "b.0", NS: "test.docs", Request: request, Code: code, Sent: (at - 1) * ms,
	}}
}

// TestCauses: each end without a cause is found, and with any one of its causes it is not.
func TestCauses(t *testing.T) {
	current, older := trace.Chunk{Major: 1, Minor: 7, Epoch: "e"}, trace.Chunk{Epoch: "e"}
	section := happening{80, "a.0", trace.CriticalSectionEvent{
		Shard: "a", NS: "test.docs", Actor: trace.Donor, Migration: "m1",
		State: trace.WritesBlocked,
	}}
	ofDatabase := happening{80, "a.0", trace.CriticalSectionEvent{
		Shard: "a", NS: "test", Actor: trace.Donor, Migration: "p1", State: trace.ReadsBlocked,
	}}
	fault := happening{95, "", trace.FaultEvent{Number: 1, FaultKind: "error", Target: "a.0"}}
	deposed := happening{95, "a.0", trace.SteppedDownEvent{Shard: "a", Term: 1}}
	gives := happening{40, "b.0", trace.DonorAdvancedEvent{
		Shard: "b", Peer: "a", NS: "test.docs", Migration: "m2", State: trace.DonorCloning,
	}}
	cleared := happening{80, "a.0", trace.MetadataClearedEvent{Shard: "a", NS: "test.docs"}}
	written := happening{80, "a.0", trace.AppliedEvent{
		Shard: "a", Term: 1, Index: 1, NS: "test.docs", Key: "c", Hash: 1, Actor: trace.User,
	}}
	resharded := happening{70, "config.0", trace.CatalogWrittenEvent{
		Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: "split",
		Chunks: []trace.Chunk{{Min: "", Max: "m", Shard: "a", Major: 1, Minor: 2, Epoch: "e"}},
	}}
	merged := trace.CatalogWrittenEvent{
		Shard: "config", Term: 1, Index: 3, NS: "test.docs", Why: "merge",
		Chunks: []trace.Chunk{{Min: "", Max: "m", Shard: "a", Major: 1, Minor: 3, Epoch: "e"}},
	}
	primaryMoves := happening{96, "a.0", trace.PrimaryMovingEvent{
		Shard: "a", Peer: "b", NS: "test", Migration: "p", Phase: trace.PrimaryCleaning,
	}}
	named := placed("a", "", "m")[0]
	for name, c := range map[string]struct {
		caused []happening // each alone is cause enough
		before []happening
		end    happening
		want   verdict.Signature
	}{
		"a version": {
			[]happening{section, fault, deposed, cleared, ended(95, "a.0", "GetRoutingTable", "X")},
			nil, refused("Find", "StaleConfig", current), refusedIdly,
		},
		"a version of a database": {
			[]happening{section, ofDatabase}, nil, refused("Find", "StaleDbVersion", current),
			refusedIdly,
		},
		"a section of the database": {
			nil, []happening{ofDatabase}, refused("Find", "StaleConfig", current), refusedIdly,
		},
		"an older version": {nil, nil, refused("Find", "StaleConfig", older), ""},
		"no primary": {
			[]happening{deposed, fault, ended(95, "a.0", "Hello", "NetworkTimeout")},
			nil, refused("Update", "NotWritablePrimary"), refusedIdly,
		},
		"a change of roles": {
			[]happening{deposed}, nil, refused("Update", "PrimarySteppedDown"), refusedIdly,
		},
		"a failed request": {
			[]happening{ended(95, "a.0", "Any", "Any")}, nil, refused("Find", "NetworkTimeout"),
			refusedIdly,
		},
		"a failure before it came": {nil, nil, refused("CloneCatalogData", "NetworkTimeout"), ""},
		"a competing migration": {
			[]happening{donor(80, trace.DonorCreated),
				recipient(80, trace.RecipientClone), section},
			nil, refused("RecvChunkStart", "ConflictingOperationInProgress"), refusedIdly,
		},
		"a migration that was answered": {
			nil, []happening{
				donor(50, trace.DonorCreated), donor(60, trace.DonorDone), answeredMove(70, 40),
			},
			refused("ShardsvrMoveRange", "ConflictingOperationInProgress"), refusedIdly,
		},
		"a migration before which a request came that waited for another": {
			nil, []happening{
				donorOf("m0", 20, trace.DonorCreated), donorOf("m0", 45, trace.DonorDone),
				answeredMove(46, 19),
				donor(50, trace.DonorCreated), donor(60, trace.DonorDone), answeredMove(70, 30),
			},
			refused("ShardsvrMoveRange", "ConflictingOperationInProgress"), "",
		},
		"a migration of which only an answer failed": {
			nil, []happening{
				donor(50, trace.DonorCreated),
				{55, "config.0", trace.CatalogWrittenEvent{
					Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: "move m1",
					Chunks: []trace.Chunk{{Min: "", Max: "m", Shard: "b", Major: 2, Epoch: "e"}},
				}},
				{56, "config.0", trace.MajorityEvent{Shard: "config", Term: 1, Index: 2}},
				donor(60, trace.DonorDone),
				{70, "a.0", trace.AnsweredEvent{
					Peer: "config.0", NS: "test.docs", Request: "ShardsvrMoveRange",
					Code: "WriteConcernFailed", Arrived: 40 * ms,
				}},
			},
			refused("ShardsvrMoveRange", "ConflictingOperationInProgress"), "",
		},
		"a migration whose donor deletes the range": {
			nil, []happening{
				donor(50, trace.DonorCreated), donor(60, trace.DonorDone), answeredMove(75, 70),
			},
			refused("ShardsvrMoveRange", "ConflictingOperationInProgress"), "",
		},
		"a donor that gives up": {
			[]happening{
				ended(95, "a.0", "RecvChunkStatus", "X"),
				{96, "b.0", trace.SteppedDownEvent{Shard: "b", Term: 1}},
			},
			[]happening{donor(50, trace.DonorCreated)},
			refused("ShardsvrMoveRange", "OperationFailed"), refusedIdly,
		},
		"a donor that waits too long": {
			nil, []happening{donor(50, trace.DonorCreated)},
			refused("ShardsvrMoveRange", "ExceededTimeLimit"), refusedIdly,
		},
		"too many changes": {
			[]happening{written}, []happening{donor(50, trace.DonorCreated)},
			refused("ShardsvrMoveRange", "ExceededMemoryLimit"), refusedIdly,
		},
		"a range elsewhere": {
			[]happening{resharded}, []happening{donor(50, trace.DonorCreated)},
			refused("ShardsvrMoveRange", "IncompatibleShardingMetadata"), refusedIdly,
		},
		"a range that will be elsewhere": {
			nil, []happening{
				{40, "config.0", resharded.e}, donor(50, trace.DonorCreated),
			},
			refused("ShardsvrMoveRange", "IncompatibleShardingMetadata"), "",
		},
		"a range elsewhere, which will not be for long": {
			nil, []happening{
				{30, "config.0", resharded.e}, {31, "config.0", merged},
				{32, "config.0", trace.MajorityEvent{Shard: "config", Term: 1, Index: 2}},
				donor(50, trace.DonorCreated),
			},
			refused("ShardsvrMoveRange", "IncompatibleShardingMetadata"), "",
		},
		"a refresh that is interrupted": {
			[]happening{primaryMoves},
			nil, refused("ShardsvrMoveRange", "Interrupted"), refusedIdly,
		},
		"a recipient that fails": {
			[]happening{
				{96, "b.0", trace.SteppedDownEvent{Shard: "b", Term: 1}}, resharded, primaryMoves,
			},
			[]happening{gives, recipient(50, trace.RecipientClone)},
			refused("RecvChunkStatus", "WriteConcernFailed"), refusedIdly,
		},
		"a recipient whose donor has another primary": {
			nil, []happening{recipient(50, trace.RecipientClone)},
			refused("RecvChunkStatus", "OperationFailed"), "",
		},
		"a recipient that waits for nothing": {
			[]happening{
				{600, "a.0", trace.AppliedEvent{
					Shard: "a", Term: 1, Index: 1, NS: "test.docs", Key: "n", Hash: 1,
					Actor: trace.Recipient, For: "m2",
				}},
				{600, "", trace.FaultEvent{Number: 1, FaultKind: "slow-link", Target: "b.1>b.2"}},
				{600, "b.0", trace.SteppedDownEvent{Shard: "b", Term: 1}},
			},
			[]happening{recipient(50, trace.RecipientSteady)},
			happening{700, "a.0", trace.AnsweredEvent{
				Peer: "b.0", NS: "test.docs", Request: "RecvChunkCommit",
				Code: "ExceededTimeLimit", Arrived: 100 * ms,
			}},
			refusedIdly,
		},
		"a recipient that waits for a short while": {
			nil, []happening{recipient(50, trace.RecipientSteady)},
			refused("RecvChunkCommit", "ExceededTimeLimit"), "",
		},
		"a commit": {
			[]happening{resharded, {40, "config.0", trace.BalancerStateEvent{
				Shard: "config", Term: 1, Index: 2, Mode: trace.BalancerOff, Closed: true,
			}}},
			[]happening{
				donor(50, trace.DonorCreated), donor(60, trace.DonorCommittingOnConfig, named),
			},
			ended(100, "a.0", "CommitChunkMigration", "ConflictingOperationInProgress"),
			refusedIdly,
		},
		"a cursor": {
			[]happening{cursorIs(30, trace.CursorKilled), cursorIs(30, trace.CursorEnds)},
			[]happening{cursorIs(10, trace.CursorLives, current)},
			cursorIs(100, trace.CursorLost), lostIdly,
		},
		"a cursor left alone": {
			nil, []happening{cursorIs(10, trace.CursorLives, current)},
			cursorIs(1000, trace.CursorLost), "",
		},
		"a routing table": {
			[]happening{
				ended(95, "router.0", "Find", "StaleConfig"),
				{95, "router.0", trace.AnsweredEvent{
					Peer: "client.0", NS: "test.docs", Request: "RenameUnsharded",
					Code: "IllegalOperation",
				}},
			},
			[]happening{
				ended(60, "router.0", "GetRoutingTable", ""),
				ended(70, "router.0", "GetRoutingTable", ""),
			},
			ended(100, "router.0", "GetRoutingTable", ""), refreshedIdly,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := idle(told(append(c.before, c.end))); got != c.want {
				t.Errorf("without a cause: got %q, not %q", got, c.want)
			}
			for _, cause := range c.caused {
				all := append(append([]happening(nil), c.before...), cause, c.end)
				if got := idle(told(all)); got != "" {
					t.Errorf("in spite of %T at %dms: %q", cause.e, cause.at, got)
				}
			}
		})
	}
}

// idle is what the rule found, empty for nothing.
func idle(o *Oracle) verdict.Signature {
	o.causes.settleIdle(math.MaxInt64)
	for _, v := range o.verdicts[causeRule.Name].Violations {
		return v.Signature
	}
	return ""
}

// TestCompletedAgain: a migration is completed again only if its record may have come back.
func TestCompletedAgain(t *testing.T) {
	completed := func(at int64) happening {
		return happening{at, "a.0", trace.MigrationEndedEvent{
			Shard: "a", Migration: "m1", Decision: trace.Aborted,
		}}
	}
	entry := happening{20, "a.0", trace.AppliedEvent{
		Shard: "a", Term: 1, Index: 5, NS: "test.docs", Key: "c", Hash: 1, Actor: trace.User,
	}}
	durable := happening{30, "a.0", trace.MajorityEvent{Shard: "a", Term: 1, Index: 5}}
	elected := happening{40, "a.0", trace.ElectedEvent{Shard: "a", Term: 2, Index: 5, Log: "1:5"}}
	for name, c := range map[string]struct {
		all  []happening
		want verdict.Signature
	}{
		"once":        {[]happening{completed(10)}, ""},
		"in one term": {[]happening{completed(10), completed(20)}, recoveredIdly},
		"rolled back": {[]happening{completed(10), entry, elected, completed(50)}, ""},
		"gone for good": {[]happening{completed(10), entry, durable, elected, completed(50)},
			recoveredIdly},
	} {
		if got := idle(told(c.all)); got != c.want {
			t.Errorf("%s: got %q, not %q", name, got, c.want)
		}
	}
}

// TestSeenCursor: what a client goes on with keeps its documents, whatever the shard says of it.
func TestSeenCursor(t *testing.T) {
	version := trace.Chunk{Major: 1, Epoch: "e"}
	deleted := happening{50, "a.0", trace.AppliedEvent{
		Shard: "a", Term: 1, Index: 5, NS: "test.docs", Key: "c", Actor: trace.RangeDeleter,
		For: "m1",
	}}
	moved := placed("b", "", "m")
	moved[0].Major = 2
	commit := []happening{
		{30, "config.0", trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: "move m1", Chunks: moved,
		}},
		{31, "config.0", trace.MajorityEvent{Shard: "config", Term: 1, Index: 2}},
	}
	for name, c := range map[string]struct {
		cursor []happening
		want   bool
	}{
		"open":          {[]happening{cursorIs(10, trace.CursorLives, version)}, true},
		"keeps nothing": {[]happening{cursorIs(10, trace.CursorLives)}, false},
		"exhausted": {
			[]happening{cursorIs(10, trace.CursorLives, version), cursorIs(20, trace.CursorEnds)},
			false,
		},
		"closed": {
			[]happening{cursorIs(10, trace.CursorLives, version), cursorIs(20, trace.CursorKilled)},
			false,
		},
		"of another time": {
			[]happening{cursorIs(10, trace.CursorLives, trace.Chunk{Major: 9, Epoch: "e"})}, false,
		},
	} {
		o := told(append(append(c.cursor, commit...), deleted))
		found := false
		for _, v := range o.verdicts[deletionRule.Name].Violations {
			found = found || v.Signature == deletedPinned
		}
		if found != c.want {
			t.Errorf("%s: found %v, not %v", name, found, c.want)
		}
	}
}

// A document is judged by what its shard owned at the version that the query came with: the query
// goes on with that after the key has moved, and nobody else may return the document. A snapshot
func verdictOf(o *Oracle, checker string) (found verdict.Verdict) {
	for _, v := range o.Verdicts() {
		if v.Checker == checker {
			found = v
		}
	}
	return found
}
