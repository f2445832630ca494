package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(50, Kind{
	Name: "donor-failover",
	About: "the donor's primary in the latest migration crashes; another member is elected and " +
		"must recover it",
	Aim:    AtNode,
	inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When:   d.anchored(failpoint.Donor, failpoint.Donor, failpoint.Session),
			Target: "donor.primary",
			For:    d.span("down"),
		}
	},
})
