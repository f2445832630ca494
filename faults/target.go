package faults

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
)

// roles knows who is what, from events alone.
type roles struct {
	leader    map[string]env.NodeID // by replica set
	term      map[string]uint64
	donor     string // shard names of the latest migration
	recipient string
}

func newRoles() *roles {
	return &roles{leader: make(map[string]env.NodeID), term: make(map[string]uint64)}
}

func (r *roles) observe(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		if e.Term >= r.term[e.Shard] {
			r.term[e.Shard], r.leader[e.Shard] = e.Term, env.NodeID(e.Node)
		}
	case trace.DonorAdvanced, trace.MigrationRequested, trace.PrimaryMoving:
		if e.Shard != "" {
			r.donor, r.recipient = e.Shard, e.Peer
		}
	}
}

// resolve names the nodes that a target means now: none when the role is unknown as yet.
func (r *roles) resolve(target string, all []env.NodeID) []env.NodeID {
	set, role, _ := strings.Cut(target, ".")
	switch set {
	case "*":
		return all
	case "donor":
		set = r.donor
	case "recipient":
		set = r.recipient
	}
	switch role {
	case "primary":
		if leader := r.leader[set]; leader != "" {
			return []env.NodeID{leader}
		}
		return nil
	case "secondary":
		return r.members(set, all, 1)
	case "*":
		return r.members(set, all, len(all))
	}
	return []env.NodeID{env.NodeID(target)}
}

// members lists up to most members of a replica set; without its primary when only some are wanted.
func (r *roles) members(set string, all []env.NodeID, most int) []env.NodeID {
	var found []env.NodeID
	for _, id := range all {
		if setOf(id) != set || len(found) == most || (most == 1 && r.leader[set] == id) {
			continue
		}
		found = append(found, id)
	}
	return found
}

func setOf(id env.NodeID) string {
	set, _, _ := strings.Cut(string(id), ".")
	return set
}

func (k *Kind) checkTarget(f scenario.Fault) error {
	switch k.Aim {
	case AtLink:
		from, to, ok := strings.Cut(f.Target, ">")
		if !ok || !plausible(from) || !plausible(to) {
			return fmt.Errorf(
				"fault %s needs a link such as donor.primary>recipient.primary or shard-a.0>*, "+
					"not %q", k.Name, f.Target,
			)
		}
	case AtNode:
		if !plausible(f.Target) {
			return fmt.Errorf(
				"fault %s needs a node such as shard-a.1 or a role such as donor.primary, not %q",
				k.Name, f.Target,
			)
		}
	case AtPoint:
		if f.Target != "" && !plausible(f.Target) {
			return fmt.Errorf("fault %s needs a node, a role or nothing, not %q", k.Name, f.Target)
		}
		if f.When.Site == "" && f.Target == "" {
			return errors.New("fault " + k.Name +
				" needs a failpoint as its trigger, or a node at whose next failpoint it happens")
		}
	}
	return nil
}

// plausible says whether a target is written like a node or a role; whether the node exists depends
// on the topology.
func plausible(target string) bool {
	if target == "*" {
		return true
	}
	set, member, ok := strings.Cut(target, ".")
	return ok && set != "" && member != "" && !strings.ContainsAny(target, " >\"")
}
