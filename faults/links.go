package faults

import (
	"strings"

	"github.com/shardproof/shardproof/system/env"
)

// ends resolves the two sides of a link now. An unknown role is no node at all.
func (c *Case) ends() (from, to []env.NodeID) {
	a, b, _ := strings.Cut(c.Fault.Target, ">")
	return c.driver.roles.resolve(a, c.driver.nodes), c.driver.roles.resolve(b, c.driver.nodes)
}

// rule is a Rule for the case's link as it is now.
func (c *Case) rule() Rule {
	from, to := c.ends()
	return Rule{
		From: func(id env.NodeID) bool { return contains(from, id) },
		To:   func(id env.NodeID) bool { return contains(to, id) },
	}
}
