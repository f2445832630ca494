// Package balancer runs the balancer on the primary of the config server (protocol 14): rounds that
// read the settings of operators, split chunks where zones and sessions need it, choose migrations
// by the policy of the version, and send them to donors.
//
// Promise: it begins and ends with a term, and no round begins before what earlier terms have asked
// for has ended (protocol 9.5). Nothing is asked for while the mode is not full or the window is
// closed, and no shard is asked for two migrations at once. Once BalancerStop was answered, nothing
// that the balancer of any term has asked for is committed, however late a message of it comes
// (SERVER-100155), until an operator starts the balancer again. What it records of itself does not
// grow without bound.
//
// Refusal: it does not decide what moves, which the package policy does, and moves nothing itself,
// which donors do. It does not hinder operators: what they ask for goes on beside it.
package balancer

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// Balancer is one incarnation of a member of the config server.
type Balancer struct {
	server   *configsvr.Server
	member   *replset.Member
	node     env.Node
	settings *settings.Settings
	now      *term // of the current term; nil on a member that is not primary
}

// New lets a member balance whenever it is primary. It must be called when everything that a new
// primary has to do first already watches the member.
func New(s *configsvr.Server) *Balancer {
	b := &Balancer{server: s, member: s.Member(), node: s.Node(), settings: s.Settings()}
	b.member.Watch(logWatcher{b})
	rpc.Handle(s.Endpoint(), b.start)
	rpc.Handle(s.Endpoint(), b.stop)
	rpc.Handle(s.Endpoint(), b.status)
	rpc.Handle(s.Endpoint(), b.collectionStatus)
	rpc.Handle(s.Endpoint(), b.putSetting)
	if s.Profile().SplitsOnWrites() {
		rpc.Handle(s.Endpoint(), b.splitPolicy)
		rpc.Handle(s.Endpoint(), b.rebalanceChunk)
	}
	return b
}

// logWatcher keeps the balancer in step with the member's terms.
type logWatcher struct{ b *Balancer }

func (w logWatcher) StepUp(env.Task) error {
	b := w.b
	b.now = &term{Balancer: b, number: b.member.Term()}
	b.now.scheduler.term = b.now
	b.node.Spawn(b.member.TermScope(), "balancer", b.now.run)
	if b.server.Profile().MergesByItself() {
		b.node.Spawn(b.member.TermScope(), "automerger", b.now.automerge)
	}
	return nil
}

func (w logWatcher) StepDown() { w.b.now = nil }

// Applied reports to the oracles when the primary switches the balancer, and wakes the balancer so
// that it reads the new settings.
func (w logWatcher) Applied(index uint64, e *oplog.Entry, leading bool) {
	if !leading {
		return
	}
	for i := range e.Ops {
		if e.Ops[i].NS == configsvr.Settings {
			w.b.noticed(index, &e.Ops[i])
		}
	}
}

func (b *Balancer) noticed(index uint64, op *oplog.Op) {
	if op.ID == string(key.String(configsvr.BalancerSetting)) {
		doc := b.document()
		mode, _ := trace.ParseBalancerMode(string(doc.Mode))
		b.emit(trace.BalancerStateEvent{
			Index:  index,
			Mode:   mode,
			Window: doc.Window.String(),
			Closed: doc.Closed,
		}.Event())
	}
	if b.now != nil {
		b.now.woken = true
		b.now.changed.Broadcast()
	}
}

// emit fills in who balances.
func (b *Balancer) emit(e *trace.Event) {
	if e.Shard == "" {
		e.Shard = configsvr.Name
	}
	e.Term = b.member.Term()
	b.node.Emit(e)
}

func (logWatcher) RolledBack(uint64) {}
func (logWatcher) Reset(uint64)      {}
func (logWatcher) Committed(uint64)  {}
