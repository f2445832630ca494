package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// adjustableSettings are the settings that operators change while a cluster runs: those of
// migrations (protocol 16).
var adjustableSettings = []string{
	"orphanCleanupDelaySecs", "rangeDeleterBatchSize", "rangeDeleterBatchDelayMS",
	"receiveChunkWaitForRangeDeleterTimeoutMS",
	"migrateCloneInsertionBatchSize", "migrateCloneBatchBytes", "migrateCloneInsertionBatchDelayMS",
	"chunkMigrationFetcherMaxBufferedSizeBytesPerThread", "transferModsBatchBytes",
	"transferModsMemoryBytes", "chunkSizeBytes",
	"maxCatchUpPercentageBeforeBlockingWrites", "steadyPollMillis", "recvChunkStatusWaitMillis",
	"sessionModsWaitMillis",
	"migrationRetryBackoffMillis", "defaultConfigCommandTimeoutMS",
}

const (
	// commandShare is how many seeds in a hundred have an operator, commandsMost how many commands
	// one gives at most.
	commandShare = 15
	commandsMost = 4
)

// drawCommands gives a share of the seeds an operator: settings that change while everything runs,
// and now and then somebody who waits until the shards are clean or quiescent.
func drawCommands(d keyed.Source, z size) (all []scenario.Command) {
	if !d.Chance("commands", commandShare) {
		return nil
	}
	for i := range 1 + d.IntN("commands/count", commandsMost) {
		who := fmt.Sprintf("commands/%d", i)
		at := time.Duration(d.IntN(who+"/at", int(z.span/time.Millisecond))) * time.Millisecond
		all = append(all, drawCommand(d, who, at))
	}
	return all
}

// cleanupShare is how many percent of the seeds of 4.2 have somebody clean up beside moves.
const cleanupShare = 30

// cleanUpBesideMoves has orphans cleaned up while ranges arrive: in 4.2 nothing but the memory of a
// primary tells what has arrived from what was left behind (protocol 10.5).
func cleanUpBesideMoves(d keyed.Source, s *scenario.Scenario) {
	if s.Protocol != "4.2" || len(s.Migrations) < 2 || !d.Chance("cleans up", cleanupShare) {
		return
	}
	for i := range keyed.Pick(d, "cleanups", 1, 2, 4, 8) {
		who := fmt.Sprintf("cleanup/%d", i)
		beside := &s.Migrations[d.IntN(who+"/move", len(s.Migrations))]
		s.Commands = append(s.Commands, scenario.Command{
			At: beside.At + time.Duration(d.IntN(who+"/behind", 120))*time.Millisecond,
			Do: commandkind.CleanupOrphaned, Name: beside.NS,
		})
	}
	s.SortCommands()
}

func drawCommand(d keyed.Source, who string, at time.Duration) scenario.Command {
	switch d.IntN(who+"/do", 10) {
	case 0:
		return scenario.Command{At: at, Do: commandkind.CleanupOrphaned, Name: mainNamespace}
	case 1:
		return scenario.Command{At: at, Do: commandkind.JoinMigrations, Name: mainNamespace}
	}
	name := adjustableSettings[d.IntN(who+"/name", len(adjustableSettings))]
	k := settingKnobs[slices.IndexFunc(settingKnobs, func(k knob) bool { return k.name == name })]
	return scenario.Command{
		At:    at,
		Do:    commandkind.SetParameter,
		Name:  name,
		Value: k.values[d.IntN(who+"/value", len(k.values))],
	}
}
