package faults

import "github.com/shardproof/shardproof/histories/scenario"

var _ = declare(150, Kind{
	Name:  "pause",
	About: "the task at a failpoint is paused for a time or until an event, while its node runs on",
	Aim:   AtPoint,
	inject: func(c *Case) (repair func()) {
		var wake func()
		c.Action.Until = func(w func()) { wake = w }
		return func() {
			if wake != nil {
				wake()
			}
		}
	},
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{When: d.pass("site", migration...), For: d.span("pause")}
		if d.n("request", 4) == 0 {
			f.When = d.pass("site", requests...)
		}
		f.When.After = 0
		if d.n("until an event", 3) == 0 {
			until := d.pass("until", migration...)
			until.Nth = 1
			f.Until = &until
		}
		return f
	},
})
