package admin

import (
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

func (s *Service) addShardToZone(
	t env.Task, _ env.NodeID, req *command.AddShardToZone,
) (*command.Done, error) {
	note := env.Note{Peer: req.Shard, ID: req.Zone}
	return s.change(t, "addShardToZone "+req.Shard, failpoint.ConfigZoneUpdate, note,
		func() ([]oplog.Op, error) {
			doc, err := s.config.Shard(req.Shard)
			switch {
			case err != nil:
				return nil, err
			case req.Zone == "":
				return nil, errcode.New(errcode.BadValue,
					"shard %s cannot be added to a zone without a name", req.Shard)
			case slices.Contains(doc.Zones, req.Zone):
				return nil, nil
			}
			doc.Zones = append(doc.Zones, req.Zone)
			slices.Sort(doc.Zones)
			return putZones(doc)
		})
}

func (s *Service) removeShardFromZone(
	t env.Task, _ env.NodeID, req *command.RemoveShardFromZone,
) (*command.Done, error) {
	note := env.Note{Peer: req.Shard, ID: req.Zone}
	return s.change(t, "removeShardFromZone "+req.Shard, failpoint.ConfigZoneUpdate, note,
		func() ([]oplog.Op, error) {
			doc, err := s.config.Shard(req.Shard)
			if err != nil || !slices.Contains(doc.Zones, req.Zone) {
				return nil, err
			}
			if err := s.dispensable(req.Shard, req.Zone); err != nil {
				return nil, err
			}
			doc.Zones = slices.DeleteFunc(doc.Zones, func(zone string) bool {
				return zone == req.Zone
			})
			return putZones(doc)
		})
}

func putZones(doc configsvr.Shard) ([]oplog.Op, error) {
	op, err := configsvr.PutShard(doc, trace.ShardZones)
	return []oplog.Op{op}, err
}

// dispensable checks that the zone can do without the shard: nothing is in the zone, or another
// shard may have it. One that drains does not count, as what it has must be able to leave.
func (s *Service) dispensable(shard, zone string) error {
	if s.config.HasRanges(zone) && !s.hasShard(zone, shard) {
		return errcode.New(errcode.ZoneStillInUse,
			"shard %s is the last one of zone %s, which has ranges, that does not drain",
			shard, zone)
	}
	return nil
}

// hasShard reports whether a shard that does not drain, other than but, is of the zone.
func (s *Service) hasShard(zone, but string) bool {
	return slices.ContainsFunc(s.staying(but), func(d configsvr.Shard) bool {
		return slices.Contains(d.Zones, zone)
	})
}

func (s *Service) updateZoneKeyRange(
	t env.Task, _ env.NodeID, req *command.UpdateZoneKeyRange,
) (*command.Done, error) {
	note := env.Note{ID: req.NS + " " + req.Zone}
	return s.change(t, "updateZoneKeyRange "+req.NS, failpoint.ConfigZoneUpdate, note,
		func() ([]oplog.Op, error) {
			pattern, err := s.zoned(req)
			if err != nil {
				return nil, err
			}
			zones, rng := s.config.Zones(req.NS, pattern), key.Range{Min: req.Min, Max: req.Max}
			if req.Zone == "" {
				return unassignOps(req.NS, zones, rng), nil
			}
			return s.assigned(req.NS, pattern, zones, catalog.Zone{Range: rng, Name: req.Zone})
		})
}

// zoned is the shard key of the collection that the request is about: the one that it has, or will
// have to have. MongoDB finds out at shardCollection, too.
func (s *Service) zoned(req *command.UpdateZoneKeyRange) (key.Pattern, error) {
	field, pattern := s.config.ZoneField(req.NS), key.Pattern{Field: req.Field}
	if table, err := s.config.Table(req.NS); err == nil && !table.Collection().Unsharded {
		pattern = table.Collection().Key
	} else if made, making := s.config.Making(req.NS); making {
		pattern = made
	}
	switch {
	case pattern.Field == "":
		return pattern, errcode.New(errcode.BadValue,
			"collection %s is not sharded, and the request does not say by what it will be", req.NS)
	case req.Field != "" && req.Field != pattern.Field:
		return pattern, errcode.New(errcode.BadValue, "collection %s is sharded by %s, not by %s",
			req.NS, pattern.Field, req.Field)
	case field != "" && field != pattern.Field:
		return pattern, errcode.New(errcode.BadValue, "the zones of %s are ranges of %s, not of %s",
			req.NS, field, pattern.Field)
	}
	return pattern, nil
}

func (s *Service) assigned(
	ns string, pattern key.Pattern, zones catalog.Zones, z catalog.Zone,
) ([]oplog.Op, error) {
	if !s.hasShard(z.Name, "") {
		return nil, errcode.New(errcode.ZoneNotFound,
			"no shard that does not drain is of zone %q", z.Name)
	}
	next, err := zones.Assign(z.Range, z.Name)
	if err != nil || len(next) == len(zones) {
		return nil, err
	}
	op, err := configsvr.PutZone(ns, pattern, z)
	return []oplog.Op{op}, err
}

func unassignOps(ns string, zones catalog.Zones, rng key.Range) []oplog.Op {
	if len(zones.Unassign(rng)) == len(zones) {
		return nil
	}
	return []oplog.Op{configsvr.RemoveZone(ns, rng.Min)}
}
