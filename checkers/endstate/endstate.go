// Package endstate judges what is left when a run is over: the state of every member after its
// faults have healed, whether everything that was asked for has come to its end, whether the
// balancer has finished its work, and whether what must be possible then is.
//
// Promise: each check is a pure function of what it is given; the gravest violations come first.
//
// Refusal: it does not collect the state; who runs a cluster does.
package endstate

import "github.com/shardproof/shardproof/checkers/verdict"

// Catalog is every checker of this package, in the order in which they are listed.
func Catalog() []verdict.Checker { return []verdict.Checker{Liveness, Convergence, Probes} }
