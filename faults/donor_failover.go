package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(Kind{
	Name:  "donor-failover",
	About: "the primary of the donor of the latest migration dies; another member is elected and has to recover the migration",
	Aim:   AtNode, inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When: d.anchored(failpoint.Donor, failpoint.Donor, failpoint.Session), Target: "donor.primary", For: d.span("down"),
		}
	},
})
