package shardstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/settings"
)

// zonePrefix starts the settings that put a member of the config server into a time zone: `set
// sim.clock.utcOffset.config.0 2h`.
const zonePrefix = "sim.clock.utcOffset."

// settable are the settings of the cluster, and the time zones of the config server's members.
func settable() (all []target.Setting) {
	defaults := settings.Default80()
	for _, name := range settings.Names() {
		value, _ := defaults.Get(name)
		if settings.Unit(name) == settings.Switch {
			value = strconv.FormatBool(value != "0")
		}
		all = append(all, target.Setting{Name: name,
			Default: value,
			About:   settings.About(name),
			Unit:    settings.Unit(name),
			Reader:  settings.Reader(name),
			Check: func(name, value string) error {
				any := settings.Default80()
				return any.Set(name, value)
			}})
	}
	return append(all, target.Setting{
		Name: zonePrefix + "config.0", Prefix: zonePrefix, Default: "0s",
		Unit: settings.Seconds, Reader: "balancer",
		About: "the UTC offset of the local time of a config server member",
		Check: func(name, value string) error {
			_, _, err := zone(name, value)
			return err
		},
	})
}

// configure takes a line of a scenario over.
func configure(
	v scenario.Setting, of *settings.Settings, zones map[env.NodeID]time.Duration,
) error {
	if !strings.HasPrefix(v.Name, zonePrefix) {
		return of.Set(v.Name, v.Value)
	}
	node, east, err := zone(v.Name, v.Value)
	if err == nil {
		zones[node] = east
	}
	return err
}

// zone is a server and how far east of UTC it stands.
func zone(name, value string) (env.NodeID, time.Duration, error) {
	node := strings.TrimPrefix(name, zonePrefix)
	number, ok := strings.CutPrefix(node, configsvr.Name+".")
	if !ok || strings.Trim(number, "0123456789") != "" || number == "" {
		return "", 0, fmt.Errorf("setting %s needs a member of the config server such as config.0",
			name)
	}
	east, err := time.ParseDuration(value)
	if err != nil || east.Abs() > 24*time.Hour {
		return "", 0, fmt.Errorf(
			"setting %s needs at most a day east or west of UTC such as 2h, not %q", name, value,
		)
	}
	return env.NodeID(node), east, nil
}

const terminateReads = "terminateSecondaryReadsOnOrphanCleanup"

// mayLose reports whether operators would rather have what is left on a secondary than an error
// when documents are deleted below a query (protocol 10.4).
func (c *cluster) mayLose() bool {
	return c.settings.TerminateReads == 0 ||
		slices.ContainsFunc(c.scenario.Commands, func(o scenario.Command) bool {
			return o.Do == commandkind.SetParameter && o.Name == terminateReads && o.Value == "0"
		})
}
