package tenures

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/quiet"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// happening is an event at a time, in seconds, on a node.
type happening struct {
	at   int64
	node string
	e    interface{ Event() *trace.Event }
}

const second = int64(time.Second)

func elected(at int64, node string) happening {
	return happening{at, node, trace.ElectedEvent{Shard: "a", Term: 2}}
}

func deposed(at int64, node string) happening {
	return happening{at, node, trace.SteppedDownEvent{Shard: "a", Term: 1}}
}

// faulty is a fault of a kind, at 10s, repaired at 12s.
func faulty(kind, target string) []happening {
	f := trace.FaultEvent{Number: 1, FaultKind: kind, Target: target}
	return []happening{{10, "", f}, {12, "", trace.RepairEvent(f)}}
}

// run has a judge see a.0 become the primary of a at 1s, and then what happens.
func run(timing Timing, all []happening, also func(*Judge, *quiet.Record)) verdict.Verdict {
	record := quiet.New()
	j := New(record, func() Timing { return timing }, func(string) int { return 3 })
	begin := []happening{
		{1, "a.0", trace.ElectedEvent{Shard: "a", Term: 1}},
		{1, "a.0", trace.WritableEvent{Shard: "a", Term: 1}},
	}
	for i, h := range append(begin, all...) {
		e := h.e.Event()
		e.Step, e.At, e.Node = uint64(i+1), h.at*second, h.node
		if also != nil && i == len(begin) {
			also(j, record)
		}
		record.Observe(e)
		j.Observe(e)
	}
	if also != nil && len(all) == 0 {
		also(j, record)
	}
	return j.Verdict()
}

func found(v verdict.Verdict) verdict.Signature {
	if len(v.Violations) == 0 {
		return ""
	}
	return v.Violations[0].Signature
}

// TestChanges: a change of primaries without a cause is found, and with any cause it is not.
func TestChanges(t *testing.T) {
	half := Timing{Election: 500 * time.Millisecond, HandOver: time.Second}
	moving := half
	moving.Changed = true
	handsOver := func(j *Judge, _ *quiet.Record) { j.HandsOver("a.0", "a", 19*second) }
	unheard := func(j *Judge, _ *quiet.Record) { j.HandsOver("a.0", "a", 8*second) }
	lost := []happening{
		{10, "a.0", trace.NodeDownEvent{}}, elected(11, "a.1"),
		{11, "a.1", trace.WritableEvent{Shard: "a", Term: 2}},
		{12, "a.0", trace.NodeUpEvent{}}, elected(30, "a.2"),
	}
	handedOver := func(j *Judge, _ *quiet.Record) {
		j.HandsOver("a.0", "a", 17*second)(true, 18*second)
	}
	chance := func(_ *Judge, r *quiet.Record) { r.Disturbed("a.1", "", 18*second) }
	elsewhere := func(_ *Judge, r *quiet.Record) { r.Disturbed("b.1", "", 18*second) }
	for name, c := range map[string]struct {
		timing Timing
		all    []happening
		also   func(*Judge, *quiet.Record)
		want   verdict.Signature
	}{
		"elected":            {half, []happening{elected(20, "a.1")}, nil, electedIdly},
		"stepped down":       {half, []happening{deposed(20, "a.0")}, nil, electedIdly},
		"at the start":       {half, []happening{elected(4, "a.1")}, nil, ""},
		"times that change":  {moving, []happening{elected(20, "a.1")}, nil, ""},
		"handing over":       {half, []happening{elected(20, "a.1")}, handsOver, ""},
		"lost with its node": {half, lost, unheard, electedIdly},
		"it was down, and back long ago": {
			half, []happening{
				{5, "a.0", trace.NodeDownEvent{}}, {6, "a.0", trace.NodeUpEvent{}}, elected(30, "a.1"),
			}, nil, "",
		},
		"handed over":      {half, []happening{elected(20, "a.1")}, handedOver, ""},
		"chance":           {half, []happening{elected(20, "a.1")}, chance, ""},
		"chance elsewhere": {half, []happening{elected(20, "a.1")}, elsewhere, electedIdly},
		"again and again": {half, []happening{
			elected(20, "a.1"), {20, "a.1", trace.WritableEvent{Shard: "a", Term: 2}},
			elected(21, "a.0"),
		}, nil, electedIdly},
		"soon after another": {
			half, append(faulty("partition", "x>y"), elected(13, "a.1"), elected(14, "a.0")), nil, "",
		},
		"a fault": {
			half, append(faulty("partition", "x>y"), elected(13, "a.1")), nil, "",
		},
		"a fault in effect": {
			half, append(faulty("partition", "x>y")[:1], elected(30, "a.1")), nil, "",
		},
		"a fault of long ago": {
			half, append(faulty("pause", "a.0"), elected(30, "a.1")), nil, electedIdly,
		},
		"a restart": {
			half, []happening{{19, "a.2", trace.NodeUpEvent{}}, elected(20, "a.1")}, nil, "",
		},
		"a member that is down": {
			half, []happening{{5, "a.2", trace.NodeDownEvent{}}, elected(20, "a.1")}, nil, "",
		},
		"a step that was held up": {
			half,
			[]happening{{19, "a.2", trace.PointHitEvent{Site: "donor.scan"}}, elected(20, "a.1")},
			nil, "",
		},
	} {
		v := run(c.timing, c.all, c.also)
		if got := found(v); got != c.want {
			t.Errorf("%s: %q, not %q: %v", name, got, c.want, v.Violations)
		}
	}
}

// TestHandOvers: a primary that finds no successor needs a reason.
func TestHandOvers(t *testing.T) {
	timing := Timing{Election: 500 * time.Millisecond, HandOver: time.Second}
	hasty := timing
	hasty.HandOver = 100 * time.Millisecond
	hand := func(found bool) func(*Judge, *quiet.Record) {
		return func(j *Judge, _ *quiet.Record) { j.HandsOver("a.0", "a", 20*second)(found, 21*second) }
	}
	for name, c := range map[string]struct {
		timing Timing
		also   func(*Judge, *quiet.Record)
		want   verdict.Signature
	}{
		"found":   {timing, hand(true), ""},
		"none":    {timing, hand(false), handOverIdly},
		"no time": {hasty, hand(false), ""},
		"no leader": {timing, func(j *Judge, _ *quiet.Record) {
			j.HandsOver("a.1", "a", 20*second)(false, 21*second)
		}, ""},
		"chance": {timing, func(j *Judge, r *quiet.Record) {
			over := j.HandsOver("a.0", "a", 20*second)
			r.Disturbed("a.1", "a.0", 20*second)
			over(false, 21*second)
		}, ""},
		"two at a time": {timing, func(j *Judge, _ *quiet.Record) {
			over := j.HandsOver("a.0", "a", 20*second)
			j.HandsOver("a.0", "a", 20*second)(false, 21*second)
			over(false, 21*second)
		}, ""},
	} {
		if got := found(run(c.timing, nil, c.also)); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
