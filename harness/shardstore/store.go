// Package shardstore puts the sharded document store of package system under test: it is the store
// in the terms of package target.
//
// Promise: what it starts is a pure function of the scenario; looking at the store changes nothing
// about it. What a version of the protocol is documented to do wrong is excused, and named, and
// nothing else is.
//
// Refusal: it runs nothing and judges nothing itself. When clients, movements and commands begin,
// when faults happen and when it is over is the runner's business.
package shardstore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/admission"
	"github.com/shardproof/shardproof/checkers/automerge"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/omissions"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/checkers/records"
	"github.com/shardproof/shardproof/checkers/signals"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/checkers/warnings"
	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/shardstore/timed"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/protocol"
)

// Name is what a target line of a scenario calls the store; a scenario without one means it, too.
const Name = "shardstore"

// Store is the target. The zero Store is ready.
type Store struct{}

var _ target.Target = Store{}

// Describe is what is known of the store before it is started.
func (Store) Describe() *target.Description { return description }

// The kinds of operations declare themselves in files of their own: all are known once variables
// are set.
func init() { description.Ops = executable() }

var description = &target.Description{
	Name: Name, About: "the sharded document store of this module, after MongoDB's",
	Promises: slices.Concat(
		checkers.Catalog(), endstate.Catalog(), oracle.Catalog(), automerge.Catalog(),
		signals.Catalog(), warnings.Catalog(), admission.Catalog(), omissions.Catalog(), timed.Catalog(),
		records.Catalog(),
	),
	Anomalies: verdict.KnownAnomalies(),
	Faults:    faults.Names(), Sites: failpoint.All(), Settings: settable(),
	Messages: target.Messages{
		Witness: witness, Tell: tell, Classify: classifier, Names: classes,
		Describe: answerText, Codec: codec.BSON,
		Role:       faults.RoleOf,
		Repeatable: faults.MayDouble,
	},
	Parked: func(task string) bool {
		return strings.Contains(task, ": journal is parked") ||
			strings.HasSuffix(task, ": balancer is parked") || // which is off
			strings.HasSuffix(task, ": balancer is parked after balancer.sleep")
	},
}

// Nodes lists the members of the config server, those of the shards, and the routers.
func (Store) Nodes(size scenario.Topology) (all []target.Node) {
	top := system.Topology{
		Shards:        size.Shards,
		Members:       size.Members,
		ConfigMembers: size.ConfigMembers,
		Routers:       size.Routers,
	}
	for _, set := range append([]string{configsvr.Name}, top.ShardNames()...) {
		for _, id := range top.MembersOf(set) {
			all = append(all, target.Node{ID: id, Set: set})
		}
	}
	for _, id := range top.RouterNodes() {
		all = append(all, target.Node{ID: id, Set: "router"})
	}
	return all
}

// Check says which command cannot be given.
func (Store) Check(s *scenario.Scenario) error {
	for i := range s.Commands {
		c := &s.Commands[i]
		if err := checkCommand(c); err != nil {
			return &target.FactError{Fact: fmt.Sprintf("at %s %s %s", c.At, c.Do, c.Name), Err: err}
		}
	}
	return nil
}

// protocolOf is the version that a valid scenario names.
func protocolOf(s *scenario.Scenario) protocol.Profile {
	p, err := protocol.Parse(s.Protocol)
	if err != nil {
		panic("shardstore: a scenario that was validated: " + err.Error())
	}
	return p
}

// retryEvery is how often a command is repeated that must be carried out, pollEvery how often a
// quiescent cluster is looked at.
const (
	retryEvery = 100 * time.Millisecond
	pollEvery  = 50 * time.Millisecond
)
