package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// keptRule is kept-on-disk: what replication rests on, which documents show only once two machines
// have crashed at the wrong moments.
var keptRule = verdict.Checker{
	Name: "kept-on-disk",
	Promise: "A member of a replica set acknowledges an entry, and votes, only when its disk keeps " +
		"that whatever happens to its machine; and a primary announces as committed only what a " +
		"majority of the disks of its set keep.",
	Signatures: verdict.Meanings{
		acknowledgedUnkept: "a member acknowledged an entry, or voted, and a crash could make it " +
			"forget that",
		announcedUnkept: "a primary announced as committed what only a minority of the disks keep",
	},
}

var _ = declare(119, keptRule, func(*Oracle) hooks { return hooks{} })

const (
	acknowledgedUnkept verdict.Signature = "acknowledged-before-sync"
	announcedUnkept    verdict.Signature = "committed-before-sync"
)

// AcknowledgedUnkept reports a member whose disk lacks what it has just promised to keep.
func (o *Oracle) AcknowledgedUnkept(node, lacking string) {
	o.report(keptRule, verdict.Violation{
		Signature: acknowledgedUnkept,
		Broke:     fmt.Sprintf("%s acknowledges what a crash can make it forget", node),
		Because:   []string{lacking},
	}, o.step)
}

// AnnouncedUnkept reports a primary that announces as committed what too few disks keep.
func (o *Oracle) AnnouncedUnkept(node, lacking string) {
	o.report(keptRule, verdict.Violation{
		Signature: announcedUnkept,
		Broke:     fmt.Sprintf("%s announces as committed what may be lost", node),
		Because:   []string{lacking},
	}, o.step)
}
