// Package attack is what an attack on real servers is, apart from carrying it out: the schedule of
// movements, commands and faults that a seed draws, what each fault is, what a client knows of a
// statement that ended, and what is concluded from the run and from its controls.
//
// A schedule is a scenario without operations: text that survives printing and parsing. What the
// clients do is drawn from its seed while it runs, for nobody knows how much they will get done.
//
// Promise: a pure function of its inputs: equal parameters, equal schedule. A statement of which a
// client cannot be certain is unknown, and what the final reads did not see is undecided.
//
// Refusal: no time, no process and no socket: those are harness/live.
package attack

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// TargetName is what the target line of a schedule says: that it is for what speaks MongoDB's wire
// protocol.
const TargetName = "mongodb"

// NS is the collection that clients use.
const NS = "attack.docs"

// Params are what a schedule is drawn from.
type Params struct {
	Seed     uint64
	Target   string
	Topology scenario.Topology
	Protocol string
	// For is how long clients work, and how long there are movements and faults.
	For time.Duration
	// Keys is how many keys the clients use, Rate how many operations a second all of them begin at
	// most; 0: as many as they can.
	Keys, Rate int
	// Moves is how long on average from one movement to the next; 0: nothing moves, and the chunks
	// stay as they are.
	Moves time.Duration
	// Faults are the kinds to draw from, and Between how long on average from one to the next;
	// none: there are no faults.
	Faults  []string
	Between time.Duration
	// Settings are for the servers. Own servers have more drawn for them: short delays, that
	// movements come back within the run, and small batches, that they take long.
	Settings []scenario.Setting
	Own      bool
}

// The settings of a schedule that are the attack's own.
const (
	settingRate = "attack.rate"
	settlesIn   = time.Minute
)

// Draw is the schedule of a seed.
func Draw(p Params) *scenario.Scenario {
	p.Topology.Clients = max(1, p.Topology.Clients)
	s := &scenario.Scenario{
		Name: "attack", Seed: p.Seed, Target: p.Target, Protocol: p.Protocol,
		Topology: p.Topology, FaultsEnd: p.For, Limit: settlesIn, Settings: p.Settings,
	}
	if p.Own {
		s.Settings = append(p.drawSettings(), s.Settings...)
	}
	if p.Rate > 0 {
		s.Settings = append(s.Settings,
			scenario.Setting{Name: settingRate, Value: strconv.Itoa(p.Rate)})
	}
	c := scenario.Collection{NS: NS, Keys: p.Keys, Preload: p.Keys * 2 / 3}
	for cut := p.Keys / 3; cut > 0 && cut < p.Keys; cut += p.Keys / 3 {
		c.Bounds = append(c.Bounds, int64(cut))
	}
	s.Collections = []scenario.Collection{c}
	source := keyed.New(p.Seed)
	if p.Moves > 0 {
		p.drawMoves(s, source.Fork(1))
	}
	if len(p.Faults) > 0 && p.Between > 0 {
		p.drawFaults(s, source.Fork(2))
	}
	return s
}

// drawSettings leaves out what is given.
func (p *Params) drawSettings() (all []scenario.Setting) {
	source := keyed.New(p.Seed).Fork(4)
	for _, one := range []struct {
		name string
		of   []string
	}{
		{"electionTimeoutMillis", []string{"1s"}},
		{"heartbeatIntervalMillis", []string{"100ms"}},
		{"orphanCleanupDelaySecs", []string{"100ms", "1s", "5s"}},
		{"rangeDeleterBatchSize", []string{"0", "1", "3"}},
		{"migrateCloneInsertionBatchSize", []string{"0", "2", "5"}},
	} {
		given := func(s scenario.Setting) bool { return s.Name == one.name }
		if !slices.ContainsFunc(p.Settings, given) {
			all = append(all, scenario.Setting{
				Name: one.name, Value: keyed.Pick(source, one.name, one.of...),
			})
		}
	}
	return all
}

// drawMoves has one pattern of movements, and an operator who splits, merges and has the balancer
// work now and then.
func (p *Params) drawMoves(s *scenario.Scenario, source keyed.Source) {
	patterns := workloads.MoveCatalog()
	s.Migrations = workloads.DrawMoves(source.IntN, workloads.MoveParams{
		Collection: s.Collections[0], Shards: p.Topology.Shards,
		Count: int(p.For / p.Moves), Start: p.Moves, Gap: p.Moves, WaitDelete: 20, FirstID: 1,
	}, patterns[source.IntN("pattern", len(patterns))])
	for len(s.Migrations) > 0 && s.Migrations[len(s.Migrations)-1].At > p.For {
		s.Migrations = s.Migrations[:len(s.Migrations)-1]
	}
	every := 5 * p.Moves
	for at, i := every, 0; at < p.For; at, i = at+every, i+1 {
		n := func(what string, n int) int { return source.IntN(fmt.Sprintf("%d/%s", i, what), n) }
		at := at + time.Duration(n("jitter", 1000))*time.Millisecond
		switch n("command", 4) {
		case 0:
			s.Commands = append(s.Commands,
				scenario.Command{At: at, Do: commandkind.BalancerStart},
				scenario.Command{At: at + 3*time.Second, Do: commandkind.BalancerStop})
		default:
			s.Commands = append(s.Commands, scenario.Command{
				At: at, Do: commandkind.SplitChunk, Name: NS, Min: int64(1 + n("at", p.Keys-1)),
			})
		}
	}
}

// drawFaults has one fault after the other; a long one meets the next.
func (p *Params) drawFaults(s *scenario.Scenario, source keyed.Source) {
	at := p.Between / 2
	for id := 1; at < p.For; id++ {
		d := &drawing{p: p, source: source, id: id}
		k, err := FindKind(d.one("kind", p.Faults...))
		if err != nil {
			panic("attack: Params.Faults names no kind: " + err.Error())
		}
		f := scenario.Fault{ID: id, Kind: k.Name, When: scenario.Trigger{At: at}}
		k.draw(d, &f)
		s.Faults = append(s.Faults, f)
		at += d.between("gap", p.Between/2, p.Between*3/2)
	}
}

// InOrder is a schedule by the times of its lines; a schedule by hand may be in any order.
func InOrder(s *scenario.Scenario) *scenario.Scenario {
	by := *s
	by.Migrations = slices.SortedStableFunc(slices.Values(s.Migrations),
		func(a, b scenario.Migration) int { return cmp.Compare(a.At, b.At) })
	by.Commands = slices.SortedStableFunc(slices.Values(s.Commands),
		func(a, b scenario.Command) int { return cmp.Compare(a.At, b.At) })
	by.Faults = slices.SortedStableFunc(slices.Values(s.Faults),
		func(a, b scenario.Fault) int { return cmp.Compare(a.When.At, b.When.At) })
	return &by
}

// Check says what keeps a schedule from being carried out.
func Check(s *scenario.Scenario) error {
	switch {
	case len(s.Collections) != 1 || s.Collections[0].Unsharded || s.Collections[0].Hashed:
		return fmt.Errorf("a schedule has one collection, which is ranged")
	case len(s.Ops) > 0 || len(s.Streams) > 0 || len(s.Primaries) > 0:
		return fmt.Errorf("operations, streams and move-primary are not for schedules: clients " +
			"draw what they do while they do it")
	case s.FaultsEnd <= 0:
		return fmt.Errorf("the schedule has no end; write a line such as `faults-end 30s`")
	}
	for _, c := range s.Commands {
		switch c.Do {
		case commandkind.SplitChunk, commandkind.MergeChunks,
			commandkind.BalancerStart, commandkind.BalancerStop:
		default:
			return fmt.Errorf("the command %s is not for schedules", c.Do)
		}
	}
	for _, f := range s.Faults {
		if err := CheckFault(f); err != nil {
			return err
		}
	}
	return nil
}

// Rate is how many operations a second the clients of a schedule begin at most; 0: any number.
func Rate(s *scenario.Scenario) int {
	for _, one := range s.Settings {
		if one.Name == settingRate {
			n, _ := strconv.Atoi(one.Value)
			return n
		}
	}
	return 0
}

// ServerSettings are the settings of a schedule that are for the servers.
func ServerSettings(s *scenario.Scenario) map[string]string {
	all := make(map[string]string)
	for _, one := range s.Settings {
		if one.Name != settingRate {
			all[one.Name] = one.Value
		}
	}
	return all
}

// Operations are the next operations of all clients, drawn from the schedule's seed: count of them,
// the first with that number, which must be at least 1.
func Operations(s *scenario.Scenario, first, count int) []scenario.Op {
	c := s.Collections[0]
	return workloads.Draw(keyed.New(s.Seed).Fork(3).IntN, workloads.Params{
		NS: c.NS, Keys: c.Keys, Preload: c.Preload, Clients: s.Topology.Clients, Count: count,
		Hot: 20, FirstID: first,
	}, workloads.Standard())
}
