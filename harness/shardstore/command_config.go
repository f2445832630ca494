package shardstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// The commands that the config server is given.
var (
	_ = obeys(commandkind.PutSetting, toConfig(func(c *scenario.Command) (env.Message, error) {
		doc, err := settingsDocument(c)
		return &command.PutSetting{ID: c.Name, Doc: doc}, err
	}))
	_ = obeys(commandkind.BalancerStart, toConfig(func(*scenario.Command) (env.Message, error) {
		return &command.BalancerStart{}, nil
	}))
	_ = obeys(commandkind.BalancerStop, toConfig(func(*scenario.Command) (env.Message, error) {
		return &command.BalancerStop{}, nil
	}))
	_ = obeys(commandkind.ZoneAdd, toConfig(func(c *scenario.Command) (env.Message, error) {
		return &command.AddShardToZone{Shard: c.Name, Zone: c.Value}, nil
	}))
	_ = obeys(commandkind.ZoneRemove, toConfig(func(c *scenario.Command) (env.Message, error) {
		return &command.RemoveShardFromZone{Shard: c.Name, Zone: c.Value}, nil
	}))
	_ = obeys(commandkind.ZoneRange, toConfig(func(c *scenario.Command) (env.Message, error) {
		zone := c.Value
		if zone == commandkind.NoZone {
			zone = ""
		}
		return &command.UpdateZoneKeyRange{
			NS: c.Name, Min: bound(c.Min), Max: bound(c.Max), Zone: zone, Field: shardKeyField,
		}, nil
	}))
	_ = obeys(commandkind.AutoMerge, toConfig(func(c *scenario.Command) (env.Message, error) {
		on := c.Value == "on"
		return &command.ConfigureCollectionBalancing{NS: c.Name, AutoMerge: &on}, nil
	}))
	_ = obeys(commandkind.Balance, toConfig(func(c *scenario.Command) (env.Message, error) {
		on := c.Value == "on"
		return &command.ConfigureCollectionBalancing{NS: c.Name, Enabled: &on}, nil
	}))
	_ = obeys(commandkind.ChunkSize, toConfig(func(c *scenario.Command) (env.Message, error) {
		bytes, err := strconv.ParseInt(c.Value, 10, 64)
		return &command.ConfigureCollectionBalancing{NS: c.Name, ChunkBytes: &bytes}, err
	}))
	_ = obeys(commandkind.Defragment, toConfig(func(c *scenario.Command) (env.Message, error) {
		on := c.Value == "on"
		return &command.ConfigureCollectionBalancing{NS: c.Name, Defragment: &on}, nil
	}))
	_ = obeys(commandkind.ClearJumboFlag, toConfig(func(c *scenario.Command) (env.Message, error) {
		return &command.ClearJumboFlag{NS: c.Name, At: bound(c.Min)}, nil
	}))
)

// settingsDocument is a document of config.settings as the command writes it.
func settingsDocument(c *scenario.Command) (bson.Raw, error) {
	doc := bson.D{}
	for _, f := range c.Fields {
		name, value, err := settingsField(f)
		if err != nil {
			return nil, err
		}
		doc = append(doc, bson.E{Key: name, Value: value})
	}
	return raw(doc), nil
}

// settingsFields are the fields of config.settings, by how commands name them.
var settingsFields = map[string]string{
	"mode":          "mode",
	"activeWindow":  "activeWindow",
	"throttle":      "_secondaryThrottle",
	"waitForDelete": "_waitForDelete",
	"jumbo":         "attemptToBalanceJumboChunks",
	"bytes":         "value",
	"enabled":       "enabled",
}

// settingsField is a field and its value; null for one that is to be gone.
func settingsField(f scenario.Setting) (name string, value any, err error) {
	name = settingsFields[f.Name]
	if f.Value == commandkind.NoValue {
		return name, nil, nil
	}
	value, err = settingsValue(f)
	return name, value, err
}

func settingsValue(f scenario.Setting) (any, error) {
	switch f.Name {
	case "mode":
		if !slices.Contains([]command.BalancerMode{
			command.BalancerFull, command.BalancerAutoSplitOnly, command.BalancerOff,
		}, command.BalancerMode(f.Value)) {
			return nil, fmt.Errorf("mode is full, autoSplitOnly or off, not %q", f.Value)
		}
		return f.Value, nil
	case "activeWindow":
		start, stop, ok := strings.Cut(f.Value, "-")
		if !ok {
			return nil, fmt.Errorf(
				"activeWindow is two times of a day such as 23:00-7:00, not %q", f.Value,
			)
		}
		return bson.D{{Key: "start", Value: start}, {Key: "stop", Value: stop}}, nil
	case "throttle":
		return throttling(f.Value)
	case "bytes":
		return strconv.ParseInt(f.Value, 10, 64)
	}
	return strconv.ParseBool(f.Value)
}

// throttling is true or false, or the write concern of each batch.
func throttling(word string) (any, error) {
	if on, err := strconv.ParseBool(word); err == nil && word != "0" && word != "1" {
		return on, nil
	}
	if word == "majority" {
		return bson.D{{Key: "w", Value: word}}, nil
	}
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("throttle is true, false, majority or a number of members, not %q",
			word)
	}
	return bson.D{{Key: "w", Value: n}}, nil
}
