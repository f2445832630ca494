package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/point"
)

var _ = declare(Kind{
	Name:  "recipient-crash",
	About: "the primary of the recipient of the latest migration dies in the middle of receiving",
	Aim:   AtNode, inject: injectCrash,
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{When: d.anchored(point.Recipient), Target: "recipient.primary", For: d.span("down")}
	},
})
