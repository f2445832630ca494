package rangedel

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// OwnedBytes is what the balancer is told of one collection.
func (r *Service) OwnedBytes(c command.CollectionID) int64 { return r.ownedBytes(c) }

// CleanupOrphaned is the command of an operator.
func (r *Service) CleanupOrphaned(t env.Task, ns string) error {
	_, err := r.cleanupOrphaned(t, "", &command.CleanupOrphaned{NS: ns})
	return err
}

// AwaitDeletion is what the config server asks for a request that waits for a deletion.
func (r *Service) AwaitDeletion(t env.Task, uuid string, rng key.Range) error {
	_, err := r.awaitDeletion(t, "",
		&command.AwaitRangeDeletion{UUID: uuid, Min: rng.Min, Max: rng.Max})
	return err
}
