// Package protocoltest is the rig of the protocol's tests: a language in which a script leads a
// cluster in a simulated world through one story, and records what happens on the way as a golden
// trace. Every package that implements a section of the protocol keeps the scripts of that section
// in its testdata and follows them in its own tests; README.md is their index, in the order of the
// protocol, and a guide to read it from.
//
// A script is a file for github.com/cockroachdb/datadriven: a verb with its arguments, then what it
// showed. Verbs that fit every world are explained at NewStage, those of whole clusters in
// verbs.go. A package that tests one server among simulated neighbours embeds a Stage and adds
// verbs of its own, as configsvr and router do. `go test PACKAGE -rewrite` writes the traces as
// they are now; read the difference before you keep it.
//
// Promise: a script is deterministic. A trace that changes shows a change of the protocol, or of
// its timing.
//
// Refusal: scripts judge little. That what is owned is held, what is held is owned, and what was
// acknowledged is there, is checked whenever a cluster is quiescent; the rest is for readers and
// for package harness. Nothing but tests imports this package.
package protocoltest
