package rangedel

import "github.com/shardproof/shardproof/system/command"

// OwnedBytes is what the balancer is told of one collection.
func (r *Service) OwnedBytes(c command.CollectionID) int64 { return r.ownedBytes(c) }
