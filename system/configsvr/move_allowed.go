package configsvr

import (
	"slices"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// mayAsk checks the shard that a request names: that it exists, and does not drain. What else 4.2
// wants of it goes by the chunk.
func (s *Server) mayAsk(t env.Task, req *command.MoveRange) error {
	if s.profile.MovesPartOfChunk() {
		return s.mayReceive(req.To)
	}
	_, err := s.catalog.shard(req.To)
	return err
}

// checkMoveAllowed refuses what an operator of 4.2 asks for if the balancer would not choose it
// either (protocol 14.1): a shard that drains or is full, or of another zone than the chunk, takes
// none.
func (s *Server) checkMoveAllowed(t env.Task, req *command.MoveRange, piece key.Range) error {
	to, err := s.catalog.shard(req.To)
	if err != nil {
		return err
	}
	table, err := s.catalog.latest(req.NS)
	if err != nil {
		return err
	}
	coll := table.Collection()
	if coll.Unsharded { // ranges that are of a zone already are of the key that it is to have
		return errcode.New(errcode.BadValue, "collection %s is not sharded", coll.NS)
	}
	zone := s.Zones(req.NS, coll.Key).Of(piece)
	if to.Draining {
		return notAllowed(req, "it is draining")
	}
	if zone != "" && !slices.Contains(to.Zones, zone) {
		return notAllowed(req, "it is not in zone "+zone)
	}
	if to.MaxBytes == 0 {
		return nil
	}
	have, err := s.dataOn(t, to.Name)
	if err == nil && have >= to.MaxBytes {
		err = notAllowed(req, "it has no room")
	}
	return err
}

func notAllowed(req *command.MoveRange, why string) error {
	return errcode.New(errcode.IllegalOperation,
		"shard %s cannot take a chunk of %s: %s", req.To, req.NS, why)
}

// dataOn is how many bytes of sharded collections a shard has.
func (s *Server) dataOn(t env.Task, shard string) (sum int64, err error) {
	var all []command.CollectionID
	for _, c := range s.Sharded() {
		all = append(all, command.CollectionID{NS: c.NS, UUID: c.UUID})
	}
	have, err := rpc.AskPrimary[command.StatsForBalancing](t, s.shards[shard],
		&command.ShardsvrGetStatsForBalancing{Collections: all}, s.settings.CommandTimeout)
	if err != nil {
		return 0, err
	}
	for _, n := range have.Bytes {
		sum += n
	}
	return sum, nil
}
