package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// TestPolicies are tables of clusters and of what a round chooses for them: the examples of the
// sources, and the rules of protocol 14 one by one.
//
//	shards       one a line: NAME [draining] [zone=Z,...] [data=N] [max=N]
//	collection   name=NS, one chunk a line: SHARD UPPER-BOUND [jumbo], or so many at once: SHARD *N
//	zones        name=NS, one a line: MIN MAX NAME
//	off          name=NS: balancing of the collection is switched off, or on again
//	by-count     the migrations of a round
//	by-size      chunk=N data=(SHARD=N, ...): a round's migrations for these answers
//	splits       what has to be split for zones
//	settle       rounds with splits of the same policy until nothing is chosen
func TestPolicies(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		c := &cluster{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c.t = t
			switch d.Cmd {
			case "shards":
				c.shards, c.colls = shards(t, d), nil
				return ""
			case "collection":
				c.colls = append(c.colls, collection(t, d))
				return ""
			case "zones":
				c.named(t, d).Zones = zones(t, d)
				return ""
			case "off":
				coll := c.named(t, d)
				coll.Off = !coll.Off
				return ""
			case "by-count":
				c.bySize = false
				return c.said(c.choice(c.order()))
			case "by-size":
				return c.bySizes(t, d)
			case "splits":
				return c.splits()
			case "settle":
				return c.settled(d)
			}
			t.Fatalf("no command %s", d.Cmd)
			return ""
		})
	})
}

// said checks and tells a round's migrations, and what should have been chosen but for jumbo flags.
func (c *cluster) said(r *policy.Round) string {
	c.check(r.Migrations())
	text := told(r.Migrations())
	for _, stuck := range r.OnlyJumbo() {
		text += fmt.Sprintln(stuck)
	}
	return text
}

func told(migrations []policy.Migration) string {
	if len(migrations) == 0 {
		return "nothing\n"
	}
	var b strings.Builder
	for _, m := range migrations {
		fmt.Fprint(&b, m)
		if m.Open {
			fmt.Fprint(&b, " as much as fits")
		}
		if m.ForceJumbo {
			fmt.Fprint(&b, " even if big")
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func shards(t *testing.T, d *datadriven.TestData) []policy.Shard {
	var all []policy.Shard
	for line := range strings.Lines(d.Input) {
		fields := strings.Fields(line)
		s := policy.Shard{Name: fields[0]}
		for _, f := range fields[1:] {
			name, v, _ := strings.Cut(f, "=")
			switch name {
			case "draining":
				s.Draining = true
			case "zone":
				s.Zones = strings.Split(v, ",")
			case "data":
				fmt.Sscan(v, &s.Bytes)
			case "max":
				fmt.Sscan(v, &s.MaxBytes)
			default:
				t.Fatalf("a shard has no %s", f)
			}
		}
		all = append(all, s)
	}
	return all
}

func collection(t *testing.T, d *datadriven.TestData) *policy.Collection {
	var ns string
	d.ScanArgs(t, "name", &ns)
	var bounds []key.Key
	var owners []string
	jumbo := map[int]bool{}
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		n := 1
		if _, err := fmt.Sscanf(f[1], "*%d", &n); err == nil {
			for range n {
				bounds, owners = append(bounds, key.Int(int64(len(bounds)))), append(owners, f[0])
			}
			continue
		}
		jumbo[len(owners)] = len(f) > 2
		bounds, owners = append(bounds, bound(t, f[1])), append(owners, f[0])
	}
	table := newTable(t, ns, bounds[:len(bounds)-1], func(i int) string {
		return owners[i]
	}, func(i int) bool { return jumbo[i] })
	return &policy.Collection{Table: table}
}

func bound(t *testing.T, s string) key.Key {
	var n int64
	switch s {
	case "min":
		return key.Min
	case "max":
		return key.Max
	}
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return key.Int(n)
}

func (c *cluster) named(t *testing.T, d *datadriven.TestData) *policy.Collection {
	var ns string
	d.ScanArgs(t, "name", &ns)
	for _, coll := range c.colls {
		if coll.Table.Collection().NS == ns {
			return coll
		}
	}
	t.Fatalf("no collection %s", ns)
	return nil
}

func zones(t *testing.T, d *datadriven.TestData) (all catalog.Zones) {
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		all = append(all, catalog.Zone{
			Range: key.Range{Min: bound(t, f[0]), Max: bound(t, f[1])},
			Name:  f[2],
		})
	}
	return all
}

// bySizes asks for one round; with data, the answers are those given, otherwise those that follow
// from the chunks.
func (c *cluster) bySizes(t *testing.T, d *datadriven.TestData) string {
	c.bySize = true
	for _, coll := range c.colls {
		coll.ChunkBytes = 128
		d.MaybeScanArgs(t, "chunk", &coll.ChunkBytes)
		coll.ForceJumbo = d.HasArg("force")
	}
	if !d.HasArg("data") {
		return c.said(c.choice(c.order()))
	}
	answers := map[string]int64{}
	for _, arg := range d.CmdArgs {
		for _, v := range arg.Vals {
			if name, n, ok := strings.Cut(v, "="); ok {
				var bytes int64
				fmt.Sscan(n, &bytes)
				answers[name] = bytes
			}
		}
	}
	r := policy.NewRound(c.shards)
	for _, coll := range c.colls {
		coll.Bytes = answers
		r.BySize(coll)
	}
	return c.said(r)
}

func (c *cluster) settled(d *datadriven.TestData) string {
	var b strings.Builder
	rounds := c.settle(1000, func(migrations []policy.Migration, carryOut func()) {
		if d.HasArg("verbose") {
			fmt.Fprint(&b, told(migrations))
		}
		carryOut()
	})
	fmt.Fprintf(&b, "rounds: %d\n%s", rounds, c.describe())
	return b.String()
}

func (c *cluster) splits() string {
	var b strings.Builder
	for _, coll := range c.colls {
		for _, s := range policy.ZoneSplits(coll) {
			fmt.Fprintf(&b, "%s %v at %v\n", s.NS, s.Chunk.Range, s.Points)
		}
	}
	return b.String()
}
