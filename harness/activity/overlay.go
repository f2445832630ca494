package activity

import (
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// Start is an activity whose script begins at a time.
type Start struct {
	*Activity
	At time.Duration
}

// Overlay is the script of one activity, and over it those of others.
func Overlay(protocol string, first *Activity, others ...Start) *scenario.Scenario {
	s := first.Scenario(protocol)
	for n, next := range others {
		overlay(s, next, n+1)
	}
	s.Topology.Clients = max(s.Topology.Clients, (1+len(others))*Clients)
	return s
}

// overlay has a script begin in a scenario that has n of them.
func overlay(s *scenario.Scenario, next Start, n int) {
	late, frame, at := next.Scenario(s.Protocol), (&Activity{}).Scenario(s.Protocol), next.At
	s.Name += "-and-" + next.Name
	for i, v := range late.Settings {
		if i >= len(frame.Settings) || v != frame.Settings[i] {
			s.Set(v)
		}
	}
	for _, c := range late.Collections {
		if !slices.ContainsFunc(
			s.Collections, func(o scenario.Collection) bool { return o.NS == c.NS },
		) {
			s.Collections = append(s.Collections, c)
		}
	}
	addOps(s, late, at, n)
	addMovements(s, late, at)
	for _, c := range late.Commands {
		c.At += at
		s.Commands = append(s.Commands, c)
	}
	addFaults(s, late, at)
}

// addOps has other clients do the operations of the script that is laid over n others, with values
// of their own.
func addOps(s, late *scenario.Scenario, at time.Duration, n int) {
	behind := 0
	for _, o := range s.Ops {
		behind = max(behind, o.ID)
	}
	mine := func(value string) string {
		if value == "" {
			return ""
		}
		return value + strings.Repeat("b", n)
	}
	for _, o := range late.Ops {
		o.ID, o.At, o.Client = o.ID+behind, o.At+at, o.Client+n*Clients
		o.Value, o.Expect = mine(o.Value), mine(o.Expect)
		s.Ops = append(s.Ops, o)
	}
}

func addMovements(s, late *scenario.Scenario, at time.Duration) {
	moves, primaries, streams := len(s.Migrations), len(s.Primaries), len(s.Streams)
	for _, m := range late.Migrations {
		m.ID, m.At = m.ID+moves, m.At+at
		s.Migrations = append(s.Migrations, m)
	}
	for _, m := range late.Primaries {
		m.ID, m.At = m.ID+primaries, m.At+at
		s.Primaries = append(s.Primaries, m)
	}
	for _, r := range late.Streams {
		r.ID, r.At = r.ID+streams, r.At+at
		s.Streams = append(s.Streams, r)
	}
}

func addFaults(s, late *scenario.Scenario, at time.Duration) {
	behind := len(s.Faults)
	for _, f := range late.Faults {
		f.ID += behind
		f.When.At += at
		s.Faults = append(s.Faults, f)
	}
}
