package configsvr

import (
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

// hashedChunks is how many chunks each shard gets of a collection with a hashed key when nobody
// says otherwise.
const hashedChunks = 2

// mostInitial is how many chunks can be asked for.
const mostInitial = 8192

// placeFirst decides which chunks a new collection has and where, unless the request has named the
// shards: bounds that are given are dealt to all shards in turn; zones get a chunk for each of
// their ranges and for each gap; hashes are dealt out in equal shares; and everything else is one
// chunk. A shard that drains gets nothing.
func (s *Server) placeFirst(op *ddlOperation, coll catalog.Collection) error {
	zones, err := s.zonesOf(coll)
	if err != nil {
		return err
	}
	impossible := op.Initial < 0 || op.Initial > mostInitial
	if impossible || op.Initial > 0 && (!coll.Key.Hashed || len(op.Bounds) > 0) {
		return errcode.New(errcode.BadValue,
			"%s cannot have %d initial chunks: use 0 to %d, a hashed key and no bounds",
			op.NS, op.Initial, mostInitial)
	}
	if len(op.Shards) > 0 {
		return s.mayAllReceive(op.Shards)
	}
	members := s.membersOf(zones)
	all := members[""]
	switch {
	case len(op.Bounds) > 0:
		op.Shards = all
		return nil
	case len(zones) > 0:
		chunks, err := catalog.FirstZoned(coll, zones, members)
		op.take(chunks)
		return err
	case coll.Key.Hashed:
		chunks, err := catalog.FirstHashed(coll, all, chunksPerShard(op.Initial, len(all)))
		op.take(chunks)
		return err
	}
	op.Shards = []string{s.home(op.NS, all)}
	return nil
}

func (s *Server) mayAllReceive(shards []string) error {
	for _, name := range shards {
		if err := s.mayReceive(name); err != nil {
			return err
		}
	}
	return nil
}

// zonesOf are the zones of a collection that is to be made: they must be about its shard key.
func (s *Server) zonesOf(coll catalog.Collection) (catalog.Zones, error) {
	if field := s.ZoneField(coll.NS); field != "" && field != coll.Key.Field {
		return nil, errcode.New(errcode.BadValue,
			"collection %s cannot be sharded by %s: its zones are ranges of %s",
			coll.NS, coll.Key.Field, field)
	}
	return s.Zones(coll.NS, coll.Key), nil
}

// membersOf lists the shards that do not drain: of each of the zones, and under "" all.
func (s *Server) membersOf(zones catalog.Zones) map[string][]string {
	members := make(map[string][]string)
	for _, d := range s.Shards() {
		if d.Draining {
			continue
		}
		members[""] = append(members[""], d.Name)
		for _, zone := range d.Zones {
			if slices.ContainsFunc(zones, func(z catalog.Zone) bool { return z.Name == zone }) {
				members[zone] = append(members[zone], d.Name)
			}
		}
	}
	return members
}

// chunksPerShard is how many chunks each of the shards gets, so that there are at least as many as
// were asked for.
func chunksPerShard(asked, shards int) int {
	if asked == 0 {
		return hashedChunks
	}
	return (asked + shards - 1) / shards
}

// home is where a collection of one chunk is made: on the primary shard of its database if that
// does not drain.
func (s *Server) home(ns string, all []string) string {
	for _, d := range s.Databases() {
		if d.Name == catalog.DatabaseOf(ns) && slices.Contains(all, d.Primary) {
			return d.Primary
		}
	}
	return all[0]
}

// take has the operation make exactly these chunks.
func (op *ddlOperation) take(chunks []catalog.Chunk) {
	for _, c := range chunks {
		op.Shards = append(op.Shards, c.Shard)
		if c.Min != key.Min {
			op.Bounds = append(op.Bounds, []byte(c.Min))
		}
	}
}
