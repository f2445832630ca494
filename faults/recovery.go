package faults

import (
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// ofRecoveries are the kinds that make a recovery begin again, or go on beside another one.
var ofRecoveries = map[string]bool{
	"crash": true, "power-loss": true, "crash-loop": true, "donor-failover": true,
	"stepdown": true, "pause": true, "isolated-primary": true, "superseded": true,
	"unreplicated": true,
}

// AtRecovery aims a planned fault at a recovery that an earlier one has made necessary; those that
// mean nothing to a recovery stay as they are.
func AtRecovery(
	f scenario.Fault, id int, s Space, dice func(question string, n int) int,
) scenario.Fault {
	if !ofRecoveries[f.Kind] {
		return f
	}
	d := &Draw{Space: s, dice: dice, id: id}
	f.When = d.pass("recovery", failpoint.Recovery)
	if kind, _ := Find(f.Kind); kind.Aim == AtPoint {
		f.Target, f.When.After = "", 0
	} else {
		f.Target = "donor.primary"
	}
	return f
}
