package workloads

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Windows are active windows with a time just before each of their bounds, and one within: how far
// east of UTC a server stands for which a run begins there.
var Windows = []struct {
	Window string
	Near   []time.Duration
}{
	{
		"23:00-7:00", []time.Duration{
			23*time.Hour - time.Second, 7*time.Hour - time.Second, 24*time.Hour - time.Second,
			2 * time.Hour, 12 * time.Hour,
		},
	},
	{
		"9:00-17:00", []time.Duration{
			9*time.Hour - time.Second, 17*time.Hour - time.Second, 12 * time.Hour, -11 * time.Hour,
		},
	},
	{"0:00-0:01", []time.Duration{24*time.Hour - time.Second, 59 * time.Second, -time.Second}},
	{
		"22:00-0:00", []time.Duration{
			24*time.Hour - time.Second, 22*time.Hour - time.Second, 23 * time.Hour,
		},
	},
}

var window = Operations{
	Name: "balancing-window",
	About: "the balancer gets an active window, and usually loses it again; servers may be in " +
		"different time zones",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		set, unset := p.two("window")
		w := Windows[p.pick("which window", len(Windows))].Window
		all = append(all, p.setting(set, scenario.Setting{Name: "activeWindow", Value: w}))
		if p.chance("unset", 70) {
			all = append(all, p.setting(unset,
				scenario.Setting{Name: "activeWindow", Value: commandkind.NoValue}))
		}
		return all
	},
}

var stops = Operations{
	Name:  "balancer-stops",
	About: "the balancer is stopped and started",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		for n := range 1 + p.pick("stops", 3) {
			stop, start := p.two(fmt.Sprintf("stop %d", n))
			all = append(all, scenario.Command{At: stop, Do: commandkind.BalancerStop},
				scenario.Command{At: start, Do: commandkind.BalancerStart})
		}
		return all
	},
}

var modes = Operations{
	Name:  "balancer-modes",
	About: "the balancer only splits, or is disabled without waiting for its round to end",
	draw: func(p *operationsPlan) []scenario.Command {
		off, on := p.two("modes")
		return []scenario.Command{
			p.setting(off, scenario.Setting{
				Name:  "mode",
				Value: p.one("mode", "autoSplitOnly", "off"),
			}),
			p.setting(on, scenario.Setting{Name: "mode", Value: "full"}),
		}
	},
}

var details = Operations{
	Name:  "balancer-options",
	About: "migrations wait for secondaries or deletions; the chunk size changes",
	draw: func(p *operationsPlan) []scenario.Command {
		at, later := p.two("details")
		size := p.one("size", "150", "300", "600", "1200")
		return []scenario.Command{
			p.setting(at, scenario.Setting{
				Name:  "throttle",
				Value: p.one("throttle", "true", "false", "majority", "3"),
			},
				scenario.Setting{Name: "waitForDelete", Value: p.one("wait", "true", "false")},
				scenario.Setting{Name: "jumbo", Value: p.one("jumbo", "true", "false")}),
			{
				At:     later,
				Do:     commandkind.PutSetting,
				Name:   "chunksize",
				Fields: []scenario.Setting{{Name: "bytes", Value: size}},
			},
			{
				At:   at,
				Do:   commandkind.PutSetting,
				Name: "autosplit",
				Fields: []scenario.Setting{{
					Name:  "enabled",
					Value: p.one("autosplit", "true", "true", "false"),
				}},
			},
		}
	},
}
