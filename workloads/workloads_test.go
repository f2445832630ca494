package workloads_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

func sourceOf(seed uint64) workloads.Source {
	return func(question string, n int) int {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d/%s", seed, question)
		x := h.Sum64()
		x ^= x >> 32
		x *= 0x9e3779b97f4a7c15
		return int((x >> 33) % uint64(n))
	}
}

func drawn(t *rapid.T) (workloads.Source, scenario.Collection, *scenario.Scenario) {
	source := sourceOf(rapid.Uint64().Draw(t, "seed"))
	keys := rapid.IntRange(1, 60).Draw(t, "keys")
	c := scenario.Collection{
		NS:      "test.docs",
		Keys:    keys,
		Preload: rapid.IntRange(0, keys).Draw(t, "preload"),
		Hashed:  rapid.Bool().Draw(t, "hashed"),
	}
	if keys > 10 {
		c.Bounds = []int64{5, 10}
	}
	s := &scenario.Scenario{
		Topology: scenario.Topology{
			Shards:        rapid.IntRange(2, 4).Draw(t, "shards"),
			Members:       1,
			ConfigMembers: 1,
			Routers:       1,
			Clients:       rapid.IntRange(1, 9).Draw(t, "clients"),
		},
		Collections: []scenario.Collection{c},
	}
	return source, c, s
}

// Whatever is drawn is a valid scenario, drawn again it is the same, start times ascend and
// identities are unique.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, c, s := drawn(t)
		p := workloads.Params{
			NS:      c.NS,
			Keys:    c.Keys,
			Preload: c.Preload,
			Clients: s.Topology.Clients,
			Count:   rapid.IntRange(0, 200).Draw(t, "count"),
			Start:   time.Second,
			Span:    3 * time.Second,
			Hot:     rapid.IntRange(0, 100).Draw(t, "hot"),
			FirstID: 7,
		}
		s.Ops = workloads.Draw(source, p, workloads.Standard())
		if err := s.Validate(scenario.Names{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.Ops, workloads.Draw(source, p, workloads.Standard())); diff != "" {
			t.Fatal(diff)
		}
		checkPlan(t, s.Ops, p)
	})
}

func checkPlan(t *rapid.T, ops []scenario.Op, p workloads.Params) {
	seen := map[string]bool{}
	for i, o := range ops {
		if o.Value != "" && seen[o.Value] {
			t.Fatalf("%s is written twice", o.Value)
		}
		seen[o.Value] = true
		if o.At < p.Start || o.At > p.Start+p.Span || i > 0 && o.At < ops[i-1].At {
			t.Fatalf("operation %d starts at %s", i, o.At)
		}
	}
}

// Kinds that cannot be judged together never meet on a key, as long as there is a key for every
// class.
func TestClassesStayApart(t *testing.T) {
	p := workloads.Params{
		NS:      "a.b",
		Keys:    23,
		Preload: 11,
		Clients: 3,
		Count:   5000,
		Span:    time.Second,
		Hot:     30,
	}
	kinds := map[int64][]scenario.OpKind{}
	for _, o := range workloads.Draw(sourceOf(1), p, workloads.Standard()) {
		if o.Kind != scenario.Scan && o.Kind != scenario.Read &&
			!slices.Contains(kinds[o.Key], o.Kind) {
			kinds[o.Key] = append(kinds[o.Key], o.Kind)
		}
	}
	for key, met := range kinds {
		slices.Sort(met)
		switch text := fmt.Sprint(met); text {
		case "[cas write]", "[delete delete-one insert]", "[push]", "[upsert]", "[update]":
		default:
			t.Errorf("on key %d met %s", key, text)
		}
	}
}

// Every workload of the catalog turns up in the standard mix, and CAS asks for identities planned
// before it.
func TestStandardMix(t *testing.T) {
	if len(workloads.Weak(workloads.Standard())) != len(workloads.Catalog()) {
		t.Error("the standard mix and the weaker reads leave out a workload")
	}
	p := workloads.Params{
		NS:      "a.b",
		Keys:    40,
		Preload: 20,
		Clients: 6,
		Count:   300,
		Span:    time.Second,
	}
	count := map[scenario.OpKind]int{}
	expecting := 0
	for _, o := range workloads.Draw(sourceOf(3), p, workloads.Standard()) {
		count[o.Kind]++
		if o.Expect != "" {
			expecting++
		}
	}
	if len(count) != 10 || expecting < count[scenario.CAS]/2 {
		t.Errorf("drawn %v, %d expectations", count, expecting)
	}
}

// Every pattern draws valid migrations to another shard than the plan expects the range on.
func TestMoves(t *testing.T) {
	for _, m := range workloads.MoveCatalog() {
		t.Run(m.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				source, c, s := drawn(t)
				p := workloads.MoveParams{
					Collection: c,
					Shards:     s.Topology.Shards,
					Count:      rapid.IntRange(0, 12).Draw(t, "count"),
					Start:      time.Second,
					Gap:        100 * time.Millisecond,
					WaitDelete: 20,
					FirstID:    1,
				}
				s.Migrations = workloads.DrawMoves(source, p, m)
				if err := s.Validate(scenario.Names{}); err != nil {
					t.Fatal(err)
				}
				for i, m := range s.Migrations {
					if i > 0 && m.At < s.Migrations[i-1].At+p.Gap/2 {
						t.Fatalf("migration %d starts at %s", m.ID, m.At)
					}
				}
			})
		})
	}
}

// Ping-pong brings ranges back to where they came from.
func TestPingPong(t *testing.T) {
	m := workloads.MoveCatalog()[0]
	if m.Name != "ping-pong" {
		t.Fatalf("the first pattern is %s", m.Name)
	}
	p := workloads.MoveParams{
		Collection: scenario.Collection{NS: "a.b", Keys: 40, Bounds: []int64{20}},
		Shards:     2,
		Count:      8,
		Gap:        time.Second,
	}
	back := 0
	moves := workloads.DrawMoves(sourceOf(2), p, m)
	for i := 1; i < len(moves); i++ {
		if moves[i].Min == moves[i-1].Min && moves[i].To != moves[i-1].To {
			back++
		}
	}
	if back < 3 {
		t.Errorf("of %v only %d come back", moves, back)
	}
}
