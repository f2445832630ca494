package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/histories/trace"
)

// TestDonated: of migrations that one request may have waited for, none is taken for its own.
func TestDonated(t *testing.T) {
	old := &part{id: "old", donor: true, began: 10, over: 20}
	ended := &part{id: "ended", donor: true, began: 30, over: 50}
	running := &part{id: "running", donor: true, began: 60}
	received := &part{id: "received", began: 60}
	for name, c := range map[string]struct {
		takes []*part
		since int64
		want  *part
	}{
		"none":                   {nil, 40, nil},
		"the one that runs":      {[]*part{old, running}, 40, running},
		"one that has ended":     {[]*part{old, ended}, 40, ended},
		"one that ended before":  {[]*part{old}, 40, nil},
		"the next has begun":     {[]*part{old, ended, running}, 40, nil},
		"the last had ended":     {[]*part{old, ended, running}, 55, running},
		"one that it receives":   {[]*part{received}, 40, nil},
		"beside one it receives": {[]*part{received, running}, 40, running},
	} {
		o := &causes{takes: map[string][]*part{"a.0": c.takes}}
		if got := o.donated("a.0", c.since); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestWatchLooksAgain: a router reads a table again for each stream that it refuses, also for those
// whose clients have given up.
func TestWatchLooksAgain(t *testing.T) {
	all := []happening{
		ended(60, "router.0", "GetRoutingTable", ""), ended(70, "router.0", "GetRoutingTable", ""),
		{75, "router.0", trace.AnsweredEvent{
			Peer: "stream-reader.1", NS: "test.docs", Request: "Watch", Code: "NamespaceNotFound",
			Arrived: 10 * ms,
		}},
		ended(80, "router.0", "GetRoutingTable", ""),
	}
	if got := idle(told(all)); got != "" {
		t.Errorf("found %q", got)
	}
	late := append(all[:2:2], all[3], happening{80, "router.0", trace.AnsweredEvent{
		Peer: "client.0", NS: "test.docs", Request: "IndexUnsharded", Code: "IllegalOperation",
		Arrived: 10 * ms,
	}})
	if got := idle(told(late)); got != "" {
		t.Errorf("before a refusal found %q", got)
	}
	if late[3].at = 81; idle(told(late)) != refreshedIdly {
		t.Error("a refusal of a later moment is a cause")
	}
	if got := idle(told(append(all[:2:2], all[3]))); got != refreshedIdly {
		t.Errorf("without the stream found %q", got)
	}
}
