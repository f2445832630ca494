// Package protocoltest teaches the protocol by walking through it: each test leads a whole cluster
// through one scenario, and what happens on the way is in the scenario's file in testdata, as a
// golden trace. The chapters have the numbers of the protocol's sections; README.md is their table
// of contents, held to the files by a test.
//
// A walk is a script for github.com/cockroachdb/datadriven: a verb with its arguments, then what it
// showed. The verbs are those of the tables in walk_test.go. `go test ./system/protocoltest
// -rewrite` writes the traces as they are now; read the difference before you keep it.
//
// The same rig carries two tests of what scripts cannot enumerate: a fault at every site that a
// migration passes, and chaos, where everything happens at once.
//
// Promise: a walk is deterministic. A changed trace shows a change of the protocol, or of its
// timing.
//
// Refusal: walks judge little. That what is owned is held, what is held is owned, and what was
// acknowledged is there, is checked whenever a walk becomes quiescent; the rest is for readers and
// for package harness.
package protocoltest
