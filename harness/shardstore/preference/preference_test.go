package preference_test

import (
	"testing"

	"github.com/shardproof/shardproof/harness/shardstore/preference"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// A read that secondaries are to answer goes to no member to which its router has sent what is for
// the primary, unless something has failed there since.
func TestPrimaries(t *testing.T) {
	const members = 3
	by := preference.Router{Node: "router.0", Incarnation: 1, Set: "shard-a"}
	other, restarted, single := by, by, by
	other.Node, restarted.Incarnation, single.Set = "router.1", 2, "shard-b"
	secondary := &command.Find{Secondary: true}
	for name, c := range map[string]struct {
		before func(p *preference.Primaries)
		by     preference.Router
		to     env.NodeID
		size   int
		wrong  bool
	}{
		"nothing is known":  {func(*preference.Primaries) {}, by, "shard-a.0", members, false},
		"after a write":     {wrote(by, &command.Update{}), by, "shard-a.0", members, true},
		"after a read":      {wrote(by, &command.Find{}), by, "shard-a.0", members, true},
		"a secondary":       {wrote(by, &command.Insert{}), by, "shard-a.1", members, false},
		"of another router": {wrote(by, &command.Delete{}), other, "shard-a.0", members, false},
		"restarted":         {wrote(by, &command.Delete{}), restarted, "shard-a.0", members, false},
		"a set of one":      {wrote(single, &command.Update{}), single, "shard-a.0", 1, false},
		"after what any member answers": {
			wrote(by, &command.KillCursors{}), by, "shard-a.0", members, false,
		},
		"after a failure": {
			func(p *preference.Primaries) {
				wrote(by, &command.FindAndModify{})(p)
				p.Failed(by, "shard-a.0")
			}, by, "shard-a.0", members, false,
		},
		"after a failure elsewhere": {
			func(p *preference.Primaries) {
				wrote(by, &command.FindAndModify{})(p)
				p.Failed(by, "shard-a.1")
			}, by, "shard-a.0", members, true,
		},
		"after another primary": {
			func(p *preference.Primaries) {
				wrote(by, &command.Update{})(p)
				p.Failed(by, "shard-a.0")
				p.Sent(by, "shard-a.1", members, &command.Update{})
			}, by, "shard-a.0", members, false,
		},
	} {
		var p preference.Primaries
		c.before(&p)
		if told := p.Sent(c.by, c.to, c.size, secondary); (told != "") != c.wrong {
			t.Errorf("%s: told %q", name, told)
		}
	}
}

// wrote is a request of a router to the first member of its set.
func wrote(by preference.Router, req env.Message) func(p *preference.Primaries) {
	return func(p *preference.Primaries) { p.Sent(by, "shard-a.0", 3, req) }
}
