package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(170, Kind{
	Name:   "recipient-crash",
	About:  "the recipient's primary in the latest migration crashes while it receives data",
	Aim:    AtNode,
	inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{
			When:   d.anchored(failpoint.Recipient),
			Target: "recipient.primary",
			For:    d.span("down"),
		}
		if d.n("aborted", 10) == 0 {
			// The short time between an abort and the end of its completion.
			f.When = scenario.Trigger{
				Site:  failpoint.RecipientAbort.String(),
				Nth:   1,
				After: d.between("aborted after", time.Millisecond, 20*time.Millisecond),
			}
		}
		return f
	},
})
