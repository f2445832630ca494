package mistakes

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// Mistake is a request that can never be granted.
type Mistake struct {
	// Why says, in a clause for people, why it cannot be granted.
	Why string
	// Request makes the request that is sent.
	Request func(at Place) env.Message
	// Routed says that a router is asked, and not the config server.
	Routed bool
	// Lasting says that it is a mistake only while the collection is sharded. If it were granted at
	// another time, the collection would keep what it asks for.
	Lasting bool
}

// Place is where a mistake is made: a sharded collection with its shard key, a range from Lo to Hi
// of its keys, and a shard.
type Place struct {
	NS     string
	Key    key.Pattern
	Lo, Hi key.Key
	Shard  string
}

// Names of what does not exist or is not the operator's, and a number that is too great.
const (
	nobody   = "shard-z"
	nowhere  = "nowhere"
	nothing  = "nothing.here"
	noField  = "elsewhere"
	tooLong  = 8193
	ownSpace = "config.mine"
)

// Names are the names of all mistakes, in order.
func Names() []string { return slices.Sorted(maps.Keys(all)) }

// Named is the mistake of a name; false when there is none.
func Named(name string) (m Mistake, known bool) {
	m, known = all[name]
	return m, known
}

var all = merged(ofRanges, ofShards, ofZones, ofNames, ofNew, ofSettings)

func merged(groups ...map[string]Mistake) map[string]Mistake {
	one := map[string]Mistake{}
	for _, group := range groups {
		maps.Copy(one, group)
	}
	return one
}

var ofRanges = map[string]Mistake{
	"move-to-nobody": {Why: "there is no such shard", Request: func(at Place) env.Message {
		return &command.MoveRange{NS: at.NS, Min: at.Lo, Max: at.Hi, To: nobody, Name: "mistake"}
	}},
	"move-of-nothing": {Why: "there is no such database", Request: func(at Place) env.Message {
		return &command.MoveRange{
			NS: nothing, Min: at.Lo, Max: at.Hi, To: at.Shard, Name: "mistake",
		}
	}},
	"move-of-no-key": {Why: "the range is empty", Request: func(at Place) env.Message {
		return &command.MoveRange{NS: at.NS, Min: at.Hi, Max: at.Hi, To: at.Shard, Name: "mistake"}
	}},
	"move-backwards": {Why: "the range is empty", Request: func(at Place) env.Message {
		return &command.MoveRange{NS: at.NS, Min: at.Hi, Max: at.Lo, To: at.Shard, Name: "mistake"}
	}},
	"move-of-no-range": {Why: "neither bound is given", Request: func(at Place) env.Message {
		return &command.MoveRange{NS: at.NS, To: at.Shard, Name: "mistake"}
	}},
	"split-of-nothing": {Why: "there is no such database", Routed: true,
		Request: func(at Place) env.Message {
			return &command.SplitChunk{NS: nothing, At: at.Lo}
		}},
	"merge-of-nothing": {Why: "there is no such database", Routed: true,
		Request: func(at Place) env.Message {
			return &command.MergeChunks{NS: nothing, Min: at.Lo, Max: at.Hi}
		}},
	"merge-of-no-key": {Why: "the range is empty", Routed: true,
		Request: func(at Place) env.Message {
			return &command.MergeChunks{NS: at.NS, Min: at.Hi, Max: at.Hi}
		}},
	"jumbo-of-nothing": {Why: "there is no such database", Request: func(at Place) env.Message {
		return &command.ClearJumboFlag{NS: nothing, At: at.Lo}
	}},
}

var ofShards = map[string]Mistake{
	"primary-to-nobody": {Why: "there is no such shard", Routed: true,
		Request: func(at Place) env.Message {
			return &command.MovePrimary{Database: catalog.DatabaseOf(at.NS), To: nobody}
		}},
	"primary-of-nothing": {Why: "there is no such database", Routed: true,
		Request: func(at Place) env.Message {
			return &command.MovePrimary{Database: catalog.DatabaseOf(nothing), To: at.Shard}
		}},
	"add-nobody": {Why: "there is no such replica set", Request: func(Place) env.Message {
		return &command.AddShard{Name: nobody}
	}},
	"add-config": {Why: "the config server is not a shard", Request: func(Place) env.Message {
		return &command.AddShard{Name: "config"}
	}},
	"add-below-zero": {Why: "the limit is negative", Request: func(at Place) env.Message {
		return &command.AddShard{Name: at.Shard, MaxBytes: -1}
	}},
	"limit-below-zero": {Why: "the limit is negative", Request: func(at Place) env.Message {
		return &command.LimitShard{Name: at.Shard, MaxBytes: -1}
	}},
	"limit-nobody": {Why: "there is no such shard", Request: func(Place) env.Message {
		return &command.LimitShard{Name: nobody}
	}},
	"remove-nobody": {Why: "there is no such shard", Request: func(Place) env.Message {
		return &command.RemoveShard{Name: nobody}
	}},
}

var ofZones = map[string]Mistake{
	"zone-of-nobody": {Why: "there is no such shard", Request: func(Place) env.Message {
		return &command.AddShardToZone{Shard: nobody, Zone: nowhere}
	}},
	"zone-from-nobody": {Why: "there is no such shard", Request: func(Place) env.Message {
		return &command.RemoveShardFromZone{Shard: nobody, Zone: nowhere}
	}},
	"zone-without-name": {Why: "the zone has no name", Request: func(at Place) env.Message {
		return &command.AddShardToZone{Shard: at.Shard}
	}},
	"range-of-no-zone": {Why: "no shard belongs to the zone", Request: func(at Place) env.Message {
		return &command.UpdateZoneKeyRange{
			NS: at.NS, Min: at.Lo, Max: at.Hi, Zone: nowhere, Field: at.Key.Field,
		}
	}},
	"range-of-another-key": {Why: "the collection has another shard key", Lasting: true,
		Request: func(at Place) env.Message {
			return &command.UpdateZoneKeyRange{
				NS: at.NS, Min: at.Lo, Max: at.Hi, Field: noField,
			}
		}},
}

var ofNames = map[string]Mistake{
	"rename-to-itself":  renaming("it has that name now", func(at Place) string { return at.NS }),
	"rename-to-no-name": renaming("the new name is empty", func(Place) string { return "" }),
	"rename-to-another-database": renaming("the new name is in another database",
		func(at Place) string { return "more." + at.NS }),
	"rename-of-nothing": {Why: "there is no such database", Request: func(Place) env.Message {
		return &command.RenameCollection{NS: nothing, To: nothing + "after", DropTarget: true}
	}},
	"drop-of-nothing": {Why: "there is no such database", Request: func(Place) env.Message {
		return &command.DropCollection{NS: nothing, Sharded: true}
	}},
	"index-of-nothing": {Why: "there is no such database", Request: func(Place) env.Message {
		return &command.CreateIndex{NS: nothing, Field: noField}
	}},
	"unindex-of-nothing": {Why: "there is no such database", Request: func(Place) env.Message {
		return &command.DropIndex{NS: nothing, Field: noField}
	}},
	"database-without-name": {Why: "the name is empty", Request: func(Place) env.Message {
		return &command.CreateDatabase{}
	}},
	"database-with-dot": {Why: "the name has a dot", Request: func(Place) env.Message {
		return &command.CreateDatabase{Name: "no.database"}
	}},
	"database-of-servers": {Why: "the name is the servers' own", Request: func(Place) env.Message {
		return &command.CreateDatabase{Name: "config"}
	}},
}

func renaming(why string, to func(at Place) string) Mistake {
	return Mistake{Why: why, Request: func(at Place) env.Message {
		return &command.RenameCollection{NS: at.NS, To: to(at), DropTarget: true}
	}}
}

var ofNew = map[string]Mistake{
	"shard-by-another-key": {Why: "the collection has another shard key", Lasting: true,
		Request: func(at Place) env.Message {
			return &command.ShardCollection{NS: at.NS, Key: key.Pattern{Field: noField}}
		}},
	"shard-of-servers": sharding("the database is the servers' own", command.ShardCollection{
		NS: ownSpace, Key: key.Pattern{Field: noField},
	}),
	"shard-on-nobody": sharding("there is no such shard", command.ShardCollection{
		NS: nothing, Key: key.Pattern{Field: noField}, Shards: []string{nobody},
	}),
	"chunks-of-no-hash": sharding("only hashed keys are split before there are documents",
		command.ShardCollection{
			NS: nothing, Key: key.Pattern{Field: noField}, InitialChunks: 2,
		}),
	"chunks-too-many": sharding("there are too many chunks", command.ShardCollection{
		NS: nothing, Key: key.Pattern{Field: noField, Hashed: true}, InitialChunks: tooLong,
	}),
	"chunks-below-zero": sharding("the number of chunks is negative", command.ShardCollection{
		NS: nothing, Key: key.Pattern{Field: noField, Hashed: true}, InitialChunks: -1,
	}),
	"chunks-twice": sharding("bounds and a number of chunks are given", command.ShardCollection{
		NS: nothing, Key: key.Pattern{Field: noField, Hashed: true}, InitialChunks: 2,
		Bounds: []key.Key{key.Int(1)},
	}),
	"bounds-backwards": sharding("the bounds are out of order", command.ShardCollection{
		NS: nothing, Key: key.Pattern{Field: noField}, Bounds: []key.Key{key.Int(2), key.Int(1)},
	}),
}

func sharding(why string, req command.ShardCollection) Mistake {
	return Mistake{Why: why, Request: func(Place) env.Message { return &req }}
}

var ofSettings = map[string]Mistake{
	"size-below-zero": {Why: "the chunk size is negative", Request: func(at Place) env.Message {
		return &command.ConfigureCollectionBalancing{NS: at.NS, ChunkBytes: new(int64(-1))}
	}},
	"balance-nothing": {Why: "there is no such database", Request: func(Place) env.Message {
		return &command.ConfigureCollectionBalancing{NS: nothing, Enabled: new(true)}
	}},
	"defragment-sessions": {Why: "sessions are not defragmented", Request: func(Place) env.Message {
		return &command.ConfigureCollectionBalancing{NS: catalog.Sessions, Defragment: new(true)}
	}},
	"setting-of-nothing": setting("there is no such setting", "nothing", "enabled", true),
	"setting-unknown":    setting("there is no such field", "balancer", noField, true),
	"mode-unknown":       setting("there is no such mode", "balancer", "mode", "half"),
	"window-unknown": setting("25:00 is no time of day", "balancer", "activeWindow",
		bson.D{{Key: "start", Value: "25:00"}, {Key: "stop", Value: "7:00"}}),
	"chunksize-zero":  setting("the chunk size is zero", "chunksize", "value", int64(0)),
	"autosplit-maybe": setting("it can only be true or false", "autosplit", "enabled", "maybe"),
}

func setting(why, id, field string, value any) Mistake {
	return Mistake{Why: why, Request: func(Place) env.Message {
		doc, err := bson.Marshal(bson.D{{Key: field, Value: value}})
		if err != nil {
			panic("mistakes: a setting cannot be encoded: " + err.Error())
		}
		return &command.PutSetting{ID: id, Doc: doc}
	}}
}
