package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/faults/terms"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/settings"
)

// conditions are the settings of the world rather than of the cluster: scenario lines `set sim.<name> <value>`.
type conditions struct {
	// latency is the least time a message takes, jitter what chance adds.
	latency, jitter time.Duration
	// tail and diskTail are the share of slow messages and disk operations in parts per million, tailDelay and
	// diskDelay what they take longer at most.
	tail, diskTail, loss, duplicate int
	tailDelay, diskDelay            time.Duration
	// chains is the share of chains of messages that are slow, demotions that of messages at which one becomes so, in parts
	// per million, and chainDelay what such a message takes longer at most.
	chains, demotions int
	chainDelay        time.Duration
	// stall is the share of sites at which a task stands still, in parts per million, for stallDelay at most.
	stall      int
	stallDelay time.Duration
	// sync is what a disk takes to make data durable.
	sync time.Duration
	// yield is how often a task lets others run in the middle of its work, in parts per million.
	yield int
	// codec passes every message through its encoding.
	codec int
	// zones are how far east of UTC servers stand.
	zones map[env.NodeID]time.Duration
}

func calm() conditions {
	return conditions{
		latency: 100 * time.Microsecond, jitter: 400 * time.Microsecond, tailDelay: 50 * time.Millisecond, chainDelay: 20 * time.Millisecond,
		zones: map[env.NodeID]time.Duration{}, diskDelay: 50 * time.Millisecond, stallDelay: 20 * time.Millisecond, sync: 100 * time.Microsecond, yield: 125_000,
	}
}

type condition struct {
	name, about string
	duration    func(*conditions) *time.Duration
	number      func(*conditions) *int
}

var worldSettings = []condition{
	{"sim.net.latency", "the minimum latency of a message", func(c *conditions) *time.Duration { return &c.latency }, nil},
	{"sim.net.jitter", "the maximum random addition to it", func(c *conditions) *time.Duration { return &c.jitter }, nil},
	{"sim.net.slowPerMillion", "how many messages in a million are slow", nil, func(c *conditions) *int { return &c.tail }},
	{"sim.net.slowDelay", "the maximum extra latency of a slow message", func(c *conditions) *time.Duration { return &c.tailDelay }, nil},
	{"sim.net.lossPerMillion", "how many messages in a million are lost", nil, func(c *conditions) *int { return &c.loss }},
	{"sim.net.duplicatePerMillion", "how many messages between servers in a million are duplicated", nil, func(c *conditions) *int { return &c.duplicate }},
	{"sim.net.slowChainsPerMillion", "how many chains of messages in a million are slow", nil, func(c *conditions) *int { return &c.chains }},
	{"sim.net.slowChainDelay", "the maximum extra latency of messages of a slow chain", func(c *conditions) *time.Duration { return &c.chainDelay }, nil},
	{"sim.net.priorityChangesPerMillion", "how many messages in a million lower the priority of their chain, if any chains are slow", nil, func(c *conditions) *int { return &c.demotions }},
	{"sim.disk.syncLatency", "the minimum time of a disk sync", func(c *conditions) *time.Duration { return &c.sync }, nil},
	{"sim.disk.slowPerMillion", "how many disk operations in a million are slow", nil, func(c *conditions) *int { return &c.diskTail }},
	{"sim.disk.slowDelay", "the maximum extra time of a slow disk operation", func(c *conditions) *time.Duration { return &c.diskDelay }, nil},
	{"sim.task.stallsPerMillion", "how many passes of failpoints in a million stall the task", nil, func(c *conditions) *int { return &c.stall }},
	{"sim.task.stallDelay", "the maximum duration of a stall", func(c *conditions) *time.Duration { return &c.stallDelay }, nil},
	{"sim.task.yieldsPerMillion", "how many scheduling points in a million let other tasks run", nil, func(c *conditions) *int { return &c.yield }},
	{"sim.net.encodeMessages", "1 encodes and decodes every message", nil, func(c *conditions) *int { return &c.codec }},
}

// SettingInfo describes one setting for `shardproof list settings`.
type SettingInfo struct{ Name, Default, About string }

// catalogued are the settings that a scenario may set, those of the cluster first.
var catalogued = func() (all []SettingInfo) {
	defaults := settings.Default80()
	for _, name := range settings.Names() {
		value, _ := defaults.Get(name)
		all = append(all, SettingInfo{name, value, ""})
	}
	c := calm()
	for _, w := range worldSettings {
		all = append(all, SettingInfo{w.name, w.get(&c), w.about})
	}
	return append(all, SettingInfo{zonePrefix + "config.0", "0s", "the UTC offset of the local time of a config server member"})
}()

// Settings lists the settings that a scenario may set.
func Settings() []SettingInfo { return slices.Clone(catalogued) }

func (w *condition) get(c *conditions) string {
	if w.duration != nil {
		return w.duration(c).String()
	}
	return strconv.Itoa(*w.number(c))
}

func (w *condition) set(c *conditions, value string) error {
	if w.duration != nil {
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return fmt.Errorf("setting %s wants a duration of zero or more such as 2ms, not %q", w.name, value)
		}
		*w.duration(c) = d
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 1_000_000 {
		return fmt.Errorf("setting %s wants a whole number from 0 to 1000000, not %q", w.name, value)
	}
	*w.number(c) = n
	return nil
}

// zonePrefix starts the settings that put a member of the config server into a time zone: `set sim.clock.utcOffset.config.0 2h`.
const zonePrefix = "sim.clock.utcOffset."

// locate puts a server into its time zone.
func (c *conditions) locate(node, value string) error {
	if number, ok := strings.CutPrefix(node, configsvr.Name+"."); !ok || strings.Trim(number, "0123456789") != "" || number == "" {
		return fmt.Errorf("setting %s%s wants a member of the config server such as config.0", zonePrefix, node)
	}
	east, err := time.ParseDuration(value)
	if err != nil || east.Abs() > 24*time.Hour {
		return fmt.Errorf("setting %s%s wants at most a day east or west of UTC such as 2h, not %q", zonePrefix, node, value)
	}
	c.zones[env.NodeID(node)] = east
	return nil
}

// failpointPrefix starts the settings that switch failpoints on: `set failpoint.<name> <terms>`.
const failpointPrefix = "failpoint."

// configure reads a scenario's settings into those of the cluster, of the world and of its failpoints.
func configure(s *scenario.Scenario, cluster *settings.Settings, world *conditions, terms *terms.Set) error {
	for _, v := range s.Settings {
		if err := apply(v, cluster, world, terms); err != nil {
			return err
		}
	}
	return nil
}

func apply(v scenario.Setting, cluster *settings.Settings, world *conditions, terms *terms.Set) error {
	if site, ok := strings.CutPrefix(v.Name, failpointPrefix); ok {
		return terms.Enable(site, v.Value)
	}
	if node, ok := strings.CutPrefix(v.Name, zonePrefix); ok {
		return world.locate(node, v.Value)
	}
	for i := range worldSettings {
		if worldSettings[i].name == v.Name {
			return worldSettings[i].set(world, v.Value)
		}
	}
	if err := knownSetting(v.Name); err != nil {
		return err
	}
	return cluster.Set(v.Name, v.Value)
}

func knownSetting(name string) error {
	if slices.ContainsFunc(catalogued, func(in SettingInfo) bool { return in.Name == name }) {
		return nil
	}
	var names []string
	for _, in := range catalogued {
		names = append(names, in.Name)
	}
	return suggest.Unknown("setting", name, names, "settings")
}

// checkName accepts the names of settings and of failpoints.
func checkName(name string) error {
	site, ok := strings.CutPrefix(name, failpointPrefix)
	switch {
	case !ok && strings.HasPrefix(name, zonePrefix):
		return nil
	case !ok:
		return knownSetting(name)
	}
	if _, known := failpoint.Parse(site); !known {
		return suggest.Unknown("failpoint", site, terms.Names(), "failpoints")
	}
	return nil
}
