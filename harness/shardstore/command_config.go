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
			NS: c.Name, Min: bound(c.Min), Max: bound(c.Max), Zone: zone,
		}, nil
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

func settingsField(f scenario.Setting) (name string, value any, err error) {
	switch f.Name {
	case "mode":
		if !slices.Contains([]command.BalancerMode{
			command.BalancerFull, command.BalancerAutoSplitOnly, command.BalancerOff,
		}, command.BalancerMode(f.Value)) {
			return "", nil, fmt.Errorf("mode is full, autoSplitOnly or off, not %q", f.Value)
		}
		return "mode", f.Value, nil
	case "activeWindow":
		start, stop, ok := strings.Cut(f.Value, "-")
		if !ok {
			return "", nil, fmt.Errorf(
				"activeWindow is two times of a day such as 23:00-7:00, not %q", f.Value,
			)
		}
		return "activeWindow", bson.D{{Key: "start", Value: start}, {Key: "stop", Value: stop}}, nil
	case "throttle":
		value, err := throttling(f.Value)
		return "_secondaryThrottle", value, err
	case "bytes":
		value, err := strconv.ParseInt(f.Value, 10, 64)
		return "value", value, err
	}
	on, err := strconv.ParseBool(f.Value)
	return map[string]string{
		"waitForDelete": "_waitForDelete",
		"jumbo":         "attemptToBalanceJumboChunks",
		"enabled":       "enabled",
	}[f.Name], on, err
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
