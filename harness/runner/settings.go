package runner

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/faults/terms"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// conditions are the settings of the world rather than of the cluster: scenario lines `set
// sim.<name> <value>`.
type conditions struct {
	// latency is the least time a message takes, jitter what chance adds.
	latency, jitter time.Duration
	// tail and diskTail are the share of slow messages and disk operations in parts per million,
	// tailDelay and diskDelay what they take longer at most.
	tail, diskTail, loss, duplicate, lateCopies int
	tailDelay, diskDelay                        time.Duration
	// chains is the share of chains of messages that are slow, demotions that of messages at which
	// one becomes so, in parts per million, and chainDelay what such a message takes longer at
	// most.
	chains, demotions int
	chainDelay        time.Duration
	// stall is the share of sites at which a task stalls, in parts per million, for
	// stallDelay at most.
	stall      int
	stallDelay time.Duration
	// failures is the share of sites at which a step fails, in parts per million.
	failures int
	// siteStalls, siteWakings and siteFailures are the shares of runs in which a task stalls at a
	// failpoint, is woken late after it, or a step fails there, for each failpoint, in parts per
	// million.
	siteStalls, siteWakings, siteFailures int
	// sync is what a disk takes to make data durable.
	sync time.Duration
	// yield is how often a task lets others run in the middle of its work, in parts per million.
	yield int
	// codec passes every message through its encoding.
	codec int
	// repair is 0 when nothing is repaired before the final survey.
	repair int
}

func calm() conditions {
	return conditions{
		latency:    100 * time.Microsecond,
		jitter:     400 * time.Microsecond,
		tailDelay:  50 * time.Millisecond,
		chainDelay: 20 * time.Millisecond,
		repair:     1,
		diskDelay:  50 * time.Millisecond,
		stallDelay: 20 * time.Millisecond,
		sync:       100 * time.Microsecond,
		yield:      125_000,
	}
}

// condition is a setting of the world.
type condition struct {
	name, about string
	duration    func(*conditions) *time.Duration
	number      func(*conditions) *int
}

var worldSettings = []condition{
	{"sim.net.latency", "the minimum latency of a message", func(c *conditions) *time.Duration {
		return &c.latency
	}, nil},
	{"sim.net.jitter", "the maximum random addition to it", func(c *conditions) *time.Duration {
		return &c.jitter
	}, nil},
	{
		"sim.net.slowPerMillion", "how many messages in a million are slow", nil,
		func(c *conditions) *int { return &c.tail },
	},
	{
		"sim.net.slowDelay", "the maximum extra latency of a slow message",
		func(c *conditions) *time.Duration { return &c.tailDelay }, nil,
	},
	{
		"sim.net.lossPerMillion", "how many messages in a million are lost", nil,
		func(c *conditions) *int { return &c.loss },
	},
	{
		"sim.net.duplicatePerMillion",
		"how many messages between servers in a million are duplicated", nil,
		func(c *conditions) *int { return &c.duplicate },
	},
	{
		"sim.net.lateCopiesPerMillion",
		"how many messages between servers in a million are delivered once more, up to 3s later: " +
			"of the first three of a kind on a link; of all later ones a 32nd as many", nil,
		func(c *conditions) *int { return &c.lateCopies },
	},
	{
		"sim.net.slowChainsPerMillion", "how many chains of messages in a million are slow", nil,
		func(c *conditions) *int { return &c.chains },
	},
	{
		"sim.net.slowChainDelay", "the maximum extra latency of messages of a slow chain",
		func(c *conditions) *time.Duration { return &c.chainDelay }, nil,
	},
	{
		"sim.net.priorityChangesPerMillion",
		"how many messages in a million lower the priority of their chain, if any chains are slow",
		nil, func(c *conditions) *int { return &c.demotions },
	},
	{"sim.disk.syncLatency", "the minimum time of a disk sync", func(c *conditions) *time.Duration {
		return &c.sync
	}, nil},
	{
		"sim.disk.slowPerMillion", "how many disk operations in a million are slow", nil,
		func(c *conditions) *int { return &c.diskTail },
	},
	{
		"sim.disk.slowDelay", "the maximum extra time of a slow disk operation",
		func(c *conditions) *time.Duration { return &c.diskDelay }, nil,
	},
	{
		"sim.task.stallsPerMillion", "how many passes of failpoints in a million stall the task",
		nil, func(c *conditions) *int { return &c.stall },
	},
	{"sim.task.stallDelay", "the maximum duration of a stall", func(c *conditions) *time.Duration {
		return &c.stallDelay
	}, nil},
	{
		"sim.task.errorsPerMillion", "how many passes of failpoints in a million fail the step",
		nil, func(c *conditions) *int { return &c.failures },
	},
	{
		"sim.task.siteStallsPerMillion",
		"in how many runs in a million a task stalls at a failpoint, however often it is passed",
		nil, func(c *conditions) *int { return &c.siteStalls },
	},
	{
		"sim.task.siteWakingsPerMillion",
		"in how many runs in a million a task wakes up late from a wait after a failpoint, however " +
			"often it is passed; by sim.task.stallDelay at most",
		nil, func(c *conditions) *int { return &c.siteWakings },
	},
	{
		"sim.task.siteErrorsPerMillion",
		"in how many runs in a million a step fails at a failpoint, however often it is passed",
		nil, func(c *conditions) *int { return &c.siteFailures },
	},
	{
		"sim.task.yieldsPerMillion", "how many scheduling points in a million let other tasks run",
		nil, func(c *conditions) *int { return &c.yield },
	},
	{
		"sim.net.encodeMessages", "1 encodes and decodes every message", nil,
		func(c *conditions) *int { return &c.codec },
	},
	{
		"run.repair", "0 leaves what operators would repair to the final survey", nil,
		func(c *conditions) *int { return &c.repair },
	},
}

// SettingInfo describes one setting for `shardproof list settings`.
type SettingInfo struct {
	Name, Default, About string
	// Unit is what a plain number counts, Reader who goes by the setting; empty for those of the
	// world.
	Unit, Reader string
}

// Settings lists the settings that a scenario may set: those of the system, those of its world, and
// those of which there is one for every node.
func Settings(t target.Target) (all []SettingInfo) {
	var families []SettingInfo
	for _, of := range t.Describe().Settings {
		in := SettingInfo{of.Name, of.Default, of.About, of.Unit, of.Reader}
		if of.Prefix != "" {
			families = append(families, in)
		} else {
			all = append(all, in)
		}
	}
	c := calm()
	for _, w := range worldSettings {
		all = append(all, SettingInfo{Name: w.name, Default: w.get(&c), About: w.about})
	}
	return append(all, families...)
}

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
			return fmt.Errorf("setting %s needs a duration of zero or more such as 2ms, not %q",
				w.name, value)
		}
		*w.duration(c) = d
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 1_000_000 {
		return fmt.Errorf("setting %s needs a whole number from 0 to 1000000, not %q",
			w.name, value)
	}
	*w.number(c) = n
	return nil
}

// failpointPrefix starts the settings that switch failpoints on: `set failpoint.<name> <terms>`.
const failpointPrefix = "failpoint."

// FailpointSettings are the settings that switch failpoints on, of a value as GO_FAILPOINTS has:
// "name=terms;name=terms".
func FailpointSettings(spec string) (all []scenario.Setting, err error) {
	pairs, err := terms.Split(spec)
	for _, p := range pairs {
		all = append(all, scenario.Setting{Name: failpointPrefix + p[0], Value: p[1]})
	}
	return all, err
}

// configure reads the scenario's settings into those of the world and of its failpoints. It returns
// those of the system.
func (r *run) configure() (own []scenario.Setting, err error) {
	set := terms.New(func(site string, n int) int {
		return r.world.Gate().Pick("failpoint.terms", site, n)
	})
	for _, v := range r.scenario.Settings {
		systems, err := apply(v, r.about, &r.conditions, set)
		if err != nil {
			return nil, err
		}
		if systems {
			own = append(own, v)
		}
	}
	r.injector = newInjector(r.scenario.Faults, set)
	return own, nil
}

// apply takes a setting over, or reports that it is the system's.
func apply(
	v scenario.Setting, of *target.Description, world *conditions, set *terms.Set,
) (systems bool, err error) {
	if site, ok := strings.CutPrefix(v.Name, failpointPrefix); ok {
		return false, set.Enable(site, v.Value)
	}
	for i := range worldSettings {
		if worldSettings[i].name == v.Name {
			return false, worldSettings[i].set(world, v.Value)
		}
	}
	if own := of.Setting(v.Name); own != nil {
		return true, own.Check(v.Name, v.Value)
	}
	return false, unknownSetting(of, v.Name)
}

func unknownSetting(of *target.Description, name string) error {
	var names []string
	for i := range of.Settings {
		names = append(names, of.Settings[i].Name)
	}
	for i := range worldSettings {
		names = append(names, worldSettings[i].name)
	}
	return suggest.Unknown("setting", name, names, "settings")
}
