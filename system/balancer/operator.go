package balancer

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

func (b *Balancer) start(
	t env.Task, _ env.NodeID, _ *command.BalancerStart,
) (*command.Done, error) {
	err := b.server.InTerm(t, "balancerStart", func(own env.Task) error {
		if err := b.store(own, b.document().switched(command.BalancerFull)); err != nil {
			return err
		}
		b.logAction(own, "balancer.start", bson.D{})
		return b.server.Majority(own)
	})
	return &command.Done{}, err
}

// stop switches off, lets what is in progress come to its end, and then closes the door: from then
// on the config server commits nothing that the balancer has asked for. The wait alone would not
// do, for a request, or its commit, may still be on its way from an earlier primary.
func (b *Balancer) stop(t env.Task, _ env.NodeID, _ *command.BalancerStop) (*command.Done, error) {
	err := b.server.InTerm(t, "balancerStop", func(own env.Task) error {
		if err := b.store(own, b.document().switched(command.BalancerOff)); err != nil {
			return err
		}
		b.logAction(own, "balancer.stop", bson.D{})
		// The wait and the term may end at once.
		if err := cmp.Or(own.Point(failpoint.BalancerStop, env.Note{}), own.Err()); err != nil {
			return err
		}
		if err := b.awaitIdle(own); err != nil {
			return err
		}
		return b.close(own)
	})
	return &command.Done{}, err
}

// awaitIdle waits for the round and for all that the balancer has asked for, also in earlier terms.
func (b *Balancer) awaitIdle(t env.Task) error {
	return b.now.changed.WaitFor(t, b.settings.MoveWait, b.now.idle)
}

// close waits for commits that have been checked, and are not written yet, with the lock that they
// hold.
func (b *Balancer) close(t env.Task) error {
	if err := t.Point(failpoint.BalancerStopCloseDoor, env.Note{}); err != nil {
		return err
	}
	if err := b.server.Locked(t, func() error { return b.shut(t) }); err != nil {
		return err
	}
	if err := b.awaitClosed(t); err != nil {
		return err
	}
	b.emit(trace.BalancerStoppedEvent{}.Event())
	return nil
}

// awaitClosed waits until a majority knows that the door is closed. Another operator may have
// opened it meanwhile, and a later stop have closed it again, of which a majority need not know
// yet.
func (b *Balancer) awaitClosed(t env.Task) error {
	for now := b.now; ; {
		stored := now.stored
		if !b.document().Closed {
			return startedMeanwhile()
		}
		if err := b.server.Majority(t); err != nil || now.stored == stored {
			return err
		}
	}
}

func (b *Balancer) shut(t env.Task) error {
	doc := b.document()
	if doc.Mode != command.BalancerOff {
		return startedMeanwhile()
	}
	doc.Closed = true
	return b.store(t, doc)
}

func startedMeanwhile() error {
	return errcode.New(errcode.ConflictingOperationInProgress,
		"the balancer was switched on while it was being stopped")
}

// store writes the balancer's document.
func (b *Balancer) store(t env.Task, doc settingsDoc) error {
	op, err := configsvr.PutSetting(doc.ID, doc)
	if err != nil {
		return err
	}
	b.now.stored++
	return b.server.Write(t, op)
}

func (b *Balancer) status(
	t env.Task, _ env.NodeID, _ *command.BalancerStatus,
) (*command.BalancerStatusReply, error) {
	var reply *command.BalancerStatusReply
	err := b.server.InTerm(t, "balancerStatus", func(own env.Task) error {
		reply = &command.BalancerStatusReply{
			Mode:    b.options().mode,
			InRound: b.now.inRound || !b.now.scheduler.idle(),
			Rounds:  b.now.rounds,
		}
		return b.server.Majority(own)
	})
	return reply, err
}

// collectionStatus chooses for one collection as a round would that does nothing else.
func (b *Balancer) collectionStatus(
	t env.Task, _ env.NodeID, req *command.BalancerCollectionStatus,
) (*command.BalancerCollectionStatusReply, error) {
	reply := &command.BalancerCollectionStatusReply{}
	err := b.server.InTerm(t, "balancerCollectionStatus", func(own env.Task) (err error) {
		v := clusterView{term: b.now, roundOptions: b.options()}
		reply.FirstViolation, err = v.violation(own, req.NS)
		return b.server.Settled(own, err)
	})
	reply.Compliant = reply.FirstViolation == ""
	return reply, err
}

// violation is the most urgent thing that is not as the balancer would have it.
func (v clusterView) violation(t env.Task, ns string) (string, error) {
	coll, err := v.collection(ns)
	if err != nil {
		return "", err
	}
	if coll.Defragment && !coll.Off {
		return "defragmentingChunks", nil
	}
	some := []policy.Collection{coll}
	v.weigh(t, some)
	shards, err := v.weighed(t, v.server.Sharded())
	if err != nil {
		return "", err
	}
	round := policy.NewRound(shards)
	v.regular()(round, &some[0])
	chosen := round.Migrations()
	switch {
	case len(chosen) > 0 && chosen[0].Reason == policy.Draining:
		return "draining", t.Err()
	case len(policy.ZoneSplits(&coll)) > 0,
		len(chosen) > 0 && chosen[0].Reason == policy.ZoneViolation:
		return "zoneViolation", t.Err()
	case len(chosen) > 0:
		return "chunksImbalance", t.Err()
	}
	return "", t.Err()
}
