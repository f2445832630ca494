package faults

import (
	"slices"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// The messages of administration, by what makes a scenario have them.
var (
	wholeRequests = []string{
		"CreateIndex", "DropCollection", "DropIndex", "RenameCollection", "ShardCollection",
	}
	primaryMessages = []string{
		"CloneCatalogData", "CommitMovePrimary", "DropClonedData", "ImportSessions",
	}
	chunkMessages = []string{"CommitChunkSplit", "CommitChunksMerge", "CommitMergeAllChunks"}
	shardMessages = []string{"ShardsvrJoinCluster", "ShardsvrLeaveCluster"}
)

// administered lists the messages of administration that the scenario sends.
func (s *Space) administered() (all []string) {
	if len(s.Whole) > 0 {
		// Its steps are many, and each is another situation.
		all = append(slices.Repeat([]string{"ShardsvrParticipate"}, 8), wholeRequests...)
		all = append(all, "DropCollection", "DropCollection")
	}
	if s.MovesPrimary {
		all = append(all, primaryMessages...)
	}
	if s.Splits {
		all = append(all, slices.Concat(chunkMessages, shardMessages)...)
	}
	return all
}

// administers draws whether a fault meets messages of administration: most often where there are
// operations on whole collections, as few scenarios have them.
func (d *Draw) administers() bool {
	of, most := d.n("administers", 4), 2
	if len(d.Whole) > 0 {
		most = 3
	}
	return len(d.administered()) > 0 && of < most
}

// administration draws one of the messages, and when to look out for it: shortly before what sends
// it, so that it is among the next that come.
func (d *Draw) administration(besides ...string) (message string, when scenario.Trigger) {
	all := slices.DeleteFunc(d.administered(), func(name string) bool {
		return slices.Contains(besides, name)
	})
	if len(all) == 0 {
		return "administration", d.at()
	}
	message = d.one("administration", all...)
	switch {
	case slices.Contains(primaryMessages, message):
		return message, d.pass("site", failpoint.MovePrimary)
	case len(d.Whole) > 0:
		return message, d.soonBefore(d.Whole)
	}
	return message, d.at()
}

// drawLateAdministration draws a message between servers that arrives when its sender's successor
// has gone on.
func drawLateAdministration(d *Draw) scenario.Fault {
	message, when := d.administration(wholeRequests...)
	f := scenario.Fault{
		When:   when,
		Target: "config.primary>*",
		Args: []scenario.Setting{
			setting("messages", message),
			setting("ending", d.one("ending", "crash", "crash", "stepdown", "cut", "again")),
		},
	}
	switch {
	case slices.Contains(primaryMessages, message):
		f.Target = "donor.primary>*"
	case slices.Contains(chunkMessages, message):
		f.Target = scenario.ShardName(d.n("shard", d.Topology.Shards)) + ".primary>*"
	case message == "ShardsvrParticipate":
		f.Args = append(f.Args, setting("skip", d.n("skip", 8)))
	}
	f.For, f.Until = d.outlasting()
	return f
}
