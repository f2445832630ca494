package rangedel

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/shard"
)

// sweepNext is cleanupOrphaned of 4.2 (protocol 10.5): it deletes the next range that the shard
// neither owns nor receives, and says where to go on.
func (r *Service) sweepNext(t env.Task, req *command.CleanupOrphaned) (*command.CleanedUp, error) {
	c := r.shard.Collection(req.NS)
	lead, err := r.member.Lead()
	if err != nil {
		return nil, err
	}
	if err := r.learn(t, c); err != nil {
		return nil, err
	}
	// What was learned of recipient migrations ends with the term.
	if err := lead.Err(); err != nil {
		return nil, err
	}
	md := c.Metadata()
	if md == nil {
		return nil, errcode.New(errcode.ConflictingOperationInProgress,
			"the placement of %s became unknown", req.NS)
	}
	rng := c.NextOrphans(max(req.From, key.Min))
	if rng.Empty() {
		return &command.CleanedUp{}, nil
	}
	r.swept++
	k := Task{
		Migration: fmt.Sprintf("cleanupOrphaned of %s/%d/%d",
			r.member.Name(), r.member.Term(), r.swept),
		NS:   req.NS,
		UUID: md.Table.Collection().UUID,
		Min:  []byte(rng.Min),
		Max:  []byte(rng.Max),
		When: Now,
	}
	if err := r.CleanUp(k); err != nil {
		return nil, err
	}
	if err := r.AwaitSwept(t, k.Migration); err != nil {
		return nil, err
	}
	return &command.CleanedUp{StoppedAt: rng.Max}, lead.Err()
}

// learn finds out what the shard owns beyond doubt. A range that an earlier primary, or this one,
// has received completely may still become the shard's by a commit that is in progress, and nobody
// here would know. So first every migration ends that may bring one, then the time of a write shows
// how far the config server is, and then its catalog is read. What has arrived before and is not
// owned by then will not be. A shard that has left the cluster, and may be switched off, owns
// nothing that it could give.
func (r *Service) learn(t env.Task, c *shard.Collection) error {
	arrived := c.Unowned()
	for _, peer := range r.shard.Peers() {
		if err := r.join(t, peer, c.NS()); err != nil {
			return err
		}
	}
	note := &command.LogChange{What: "cleanupOrphaned", NS: c.NS()}
	if _, err := rpc.AskPrimary[command.Done](
		t, r.shard.Set(shard.ConfigSet), note, r.settings.CommandTimeout,
	); err != nil {
		return err
	}
	if err := c.Refresh(t); err != nil {
		return err
	}
	for _, migration := range arrived {
		c.EndReceive(migration)
	}
	return nil
}

// join waits until a shard has ended its migrations of a collection. That may take long: who does
// not answer is asked again, or who leads there by then.
func (r *Service) join(t env.Task, peer, ns string) error {
	for ends := r.node.Mono().Add(r.settings.MoveWait); ; {
		_, err := shard.Ask[command.Done](t, r.shard, peer, &command.JoinMigrations{NS: ns},
			r.settings.CommandTimeout)
		if errcode.Is(err, errcode.ShardNotFound) {
			return nil
		}
		if !errcode.Is(err, errcode.NetworkTimeout) || t.Err() != nil || r.node.Mono() >= ends {
			return err
		}
	}
}

// audit lists what is being deleted.
func (r *Service) audit(a *command.AuditReply) {
	for _, w := range r.sweeps {
		a.OutstandingTasks = append(a.OutstandingTasks,
			fmt.Sprintf("range deletion of %s", w.Migration))
	}
}
