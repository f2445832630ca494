package sharding

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// order sends the config server a command that only succeeds or fails.
func (s service) order(t env.Task, req env.Message) (bson.D, error) {
	_, err := deployment.AskConfig[command.Done](t, s.d, req)
	return reply.OK(), err
}

func (s service) balancerStart(t env.Task, _ *request.Request) (bson.D, error) {
	return s.order(t, &command.BalancerStart{})
}

func (s service) balancerStop(t env.Task, _ *request.Request) (bson.D, error) {
	return s.order(t, &command.BalancerStop{})
}

func (s service) balancerStatus(t env.Task, _ *request.Request) (bson.D, error) {
	status, err := deployment.AskConfig[command.BalancerStatusReply](t, s.d,
		&command.BalancerStatus{})
	if err != nil {
		return nil, err
	}
	return reply.Result(
		bson.E{Key: "mode", Value: string(status.Mode)},
		bson.E{Key: "inBalancerRound", Value: status.InRound},
		bson.E{Key: "numBalancerRounds", Value: status.Rounds},
	), nil
}

func (s service) balancerCollectionStatus(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := namespace(r)
	if err != nil {
		return nil, err
	}
	status, err := deployment.AskConfig[command.BalancerCollectionStatusReply](t, s.d,
		&command.BalancerCollectionStatus{NS: ns})
	if err != nil {
		return nil, err
	}
	doc := bson.D{{Key: "balancerCompliant", Value: status.Compliant}}
	if !status.Compliant {
		doc = append(doc, bson.E{Key: "firstComplianceViolation", Value: status.FirstViolation})
	}
	return append(doc, reply.OK()...), nil
}

// addShard takes a replica set that the cluster's processes know by its name.
func (s service) addShard(t env.Task, r *request.Request) (bson.D, error) {
	host, err := r.Text(r.Name, "")
	if err != nil {
		return nil, err
	}
	set, _, _ := strings.Cut(host, "/")
	name, err := r.Text("name", set)
	if err != nil {
		return nil, err
	}
	if name != set {
		return nil, errcode.New(errcode.BadValue,
			"shard name %q differs from replica set name %q: a shard must be named after its replica set",
			name, set)
	}
	max, err := r.Int("maxSize", 0)
	if err != nil {
		return nil, err
	}
	req := &command.AddShard{Name: name, MaxBytes: max << 20} // clients give megabytes
	if _, err := s.order(t, req); err != nil {
		return nil, err
	}
	return reply.Result(bson.E{Key: "shardAdded", Value: name}), nil
}

func (s service) removeShard(t env.Task, r *request.Request) (bson.D, error) {
	name, err := r.Text(r.Name, "")
	if err != nil {
		return nil, err
	}
	state, err := deployment.AskConfig[command.RemoveShardReply](t, s.d,
		&command.RemoveShard{Name: name})
	if err != nil {
		return nil, err
	}
	databases := bson.A{}
	for _, d := range state.Databases {
		databases = append(databases, d)
	}
	return reply.Result(
		bson.E{Key: "msg", Value: "draining " + string(state.State)},
		bson.E{Key: "state", Value: string(state.State)},
		bson.E{Key: "shard", Value: name},
		bson.E{Key: "remaining", Value: bson.D{
			{Key: "chunks", Value: int64(state.Chunks)},
			{Key: "dbs", Value: int64(len(databases))},
			{Key: "jumboChunks", Value: int64(state.Jumbo)},
		}},
		bson.E{Key: "dbsToMove", Value: databases},
	), nil
}

func (s service) addShardToZone(t env.Task, r *request.Request) (bson.D, error) {
	shard, zone, err := shardAndZone(r)
	if err != nil {
		return nil, err
	}
	return s.order(t, &command.AddShardToZone{Shard: shard, Zone: zone})
}

func (s service) removeShardFromZone(t env.Task, r *request.Request) (bson.D, error) {
	shard, zone, err := shardAndZone(r)
	if err != nil {
		return nil, err
	}
	return s.order(t, &command.RemoveShardFromZone{Shard: shard, Zone: zone})
}

func shardAndZone(r *request.Request) (shard, zone string, err error) {
	if shard, err = r.Text(r.Name, ""); err != nil {
		return "", "", err
	}
	zone, err = r.Text("zone", "")
	return shard, zone, err
}

func (s service) updateZoneKeyRange(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := namespace(r)
	if err != nil {
		return nil, err
	}
	zone := &command.UpdateZoneKeyRange{NS: ns}
	if zone.Zone, err = zoneOf(r); err != nil {
		return nil, err
	}
	for _, name := range []string{"min", "max"} {
		doc, err := r.Document(name)
		if err != nil {
			return nil, err
		}
		first, err := doc.IndexErr(0)
		if err != nil {
			return nil, errcode.New(errcode.BadValue, "the zone of %s has no %s", ns, name)
		}
		zone.Field = first.Key()
	}
	p, err := s.pattern(t, ns)
	if err != nil {
		p.Field = zone.Field
	}
	if zone.Min, err = optionalBound(r, p, "min"); err != nil {
		return nil, err
	}
	if zone.Max, err = optionalBound(r, p, "max"); err != nil {
		return nil, err
	}
	return s.order(t, zone)
}

// zoneOf is the zone that a range is to be of. Only null takes the range out of its zone: a request
// that names none, or in another way, is a mistake that would have its data move.
func zoneOf(r *request.Request) (string, error) {
	v := r.Value("zone")
	name, ok := v.StringValueOK()
	if v.Type == bson.TypeNull || ok && name != "" {
		return name, nil
	}
	return "", errcode.New(errcode.BadValue, "zone must be the name of a zone or null, not %v", v)
}

// stepDown makes the primary of a replica set step down. A router is in no replica set, so the
// operator names the shard.
func (s service) stepDown(t env.Task, r *request.Request) (bson.D, error) {
	name, err := r.Text("shard", s.d.Config.Name())
	if err != nil {
		return nil, err
	}
	set := s.d.Shards[name]
	if set == nil {
		return nil, errcode.New(errcode.ShardNotFound, "there is no replica set %q", name)
	}
	_, err = rpc.CallPrimary[command.Done](t, set, &command.StepDown{}, s.d.Settings.CommandTimeout)
	return reply.OK(), err
}
