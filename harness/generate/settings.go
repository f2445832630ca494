package generate

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// knob is a setting and the values it is drawn from: the first ones make a migration quick, later
// ones slow it down or cut its batches small. Small values more often: they are what tests at scale
// never see. Every limit of a batch may be one that a single element fills, but for the size of a
// chunk: a document alone is no chunk.
type knob struct {
	name   string
	values []string
}

var settingKnobs = []knob{
	{"electionTimeoutMillis", []string{"150ms", "300ms", "500ms"}},
	{"heartbeatIntervalMillis", []string{"50ms", "100ms"}},
	{"oplogMinRetentionEntries", []string{"2000", "2000", "300", "60"}},
	{"stepDownCatchUpMillis", []string{"300ms", "1s"}},
	{"defaultConfigCommandTimeoutMS", []string{"500ms", "1s", "150ms", "3s"}},
	{"criticalSectionWaitMillis", []string{"2s", "10s", "200ms", "20ms"}},
	{"writeConcernTimeoutMillis", []string{"2s", "5s", "300ms", "150ms"}},
	{"cursorTimeoutMillis", []string{"2s", "10s", "300ms"}},
	{"socketTimeoutMS", []string{"2s", "5s", "500ms", "100ms"}},
	{"timeoutMS", []string{"5s", "10s", "20s", "400ms"}},
	{"moveRangeMaxWaitMillis", []string{"20s", "5s", "1s", "150ms"}},
	{"orphanCleanupDelaySecs", []string{"0s", "5ms", "30ms", "400ms"}},
	{"rangeDeleterBatchSize", []string{"2", "1", "5", "0"}},
	{"rangeDeleterBatchDelayMS", []string{"0s", "1ms", "20ms"}},
	{"receiveChunkWaitForRangeDeleterTimeoutMS", []string{"2s", "200ms", "10s", "20ms"}},
	{"migrateCloneInsertionBatchSize", []string{"3", "1", "8", "0"}},
	{"migrateCloneBatchBytes", []string{"100", "400", "16777216", "1"}},
	{"migrateCloneInsertionBatchDelayMS", []string{"0s", "0s", "1ms", "8ms"}},
	{"chunkMigrationFetcherMaxBufferedSizeBytesPerThread", []string{"67108864", "100", "600", "1"}},
	{"transferModsBatchBytes", []string{"60", "200", "16777216", "12", "1", "1"}},
	{"transferModsMemoryBytes", []string{"524288000", "524288000", "524288000", "60", "1"}},
	{"incrementChunkMajorVersionOnChunkSplits", []string{"0", "0", "1"}},
	{"incrementChunkMajorVersionOnChunkMerges", []string{"0", "0", "1"}},
	{"chunkSizeBytes", []string{"134217728", "134217728", "134217728", "200"}},
	{"maxCatchUpPercentageBeforeBlockingWrites", []string{"10", "0", "50", "100"}},
	{"moveChunkCatchUpMaxWaitMillis", []string{"5s", "1s", "20s", "60ms"}},
	{"steadyPollMillis", []string{"1ms", "3ms", "10ms", "40ms"}},
	{"recvChunkStatusWaitMillis", []string{"10ms", "50ms", "1s"}},
	{"sessionModsWaitMillis", []string{"2ms", "20ms", "200ms", "1s"}},
	{"migrationRetryBackoffMillis", []string{"5ms", "50ms", "300ms"}},
	{"terminateSecondaryReadsOnOrphanCleanup", []string{"1", "1", "0"}},
	{"minSnapshotHistoryWindowInSeconds", []string{"0s", "10ms", "300s"}},
	{"persistedChunkCacheUpdateMaxBatchSize", []string{"1000", "1", "2"}},
}

// pieceKnobs are how much is done in one go where the defaults are more than anything in a run has:
// what lies between two pieces is then never met.
var pieceKnobs = []knob{
	{"cloneScanBatchSize", []string{"1", "2", "5"}},
	{"sessionModsBatchSize", []string{"1", "2", "8"}},
	{"actionLogMaxRecords", []string{"1", "3", "10"}},
}

// pieceShare is how many percent of the seeds have such small pieces.
const pieceShare = 60

// varySettings draws the settings, and has some seeds differ in what the others have by default.
func varySettings(d keyed.Source, s *scenario.Scenario, p Profile) {
	s.Settings = drawSettings(d, p)
	forgetEarly(d.Fork(0x81), s)
	cutSmall(d.Fork(0xc0), s)
}

// cutSmall has some seeds do in pieces what others do in one go.
func cutSmall(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("in pieces", pieceShare) {
		return
	}
	for _, k := range pieceKnobs {
		s.Set(scenario.Setting{Name: k.name, Value: keyed.Pick(own, k.name, k.values...)})
	}
}

var worldKnobs = []knob{
	{"sim.net.jitter", []string{"400us", "100us", "2ms", "8ms"}},
	{"sim.disk.syncLatency", []string{"100us", "1ms", "5ms"}},
	{"sim.task.yieldsPerMillion", []string{"125000", "500000", "20000"}},
}

// limitKnobs are limits that follow another one, as what they bound is the same kind of wait, or
// are out of reach in a run at their default.
var limitKnobs = []struct{ name, like, value string }{
	{"shardRequestTimeoutMillis", "defaultConfigCommandTimeoutMS", ""},
	{
		"drainOverlappingRangeDeletionsOnStartTimeoutMS",
		"receiveChunkWaitForRangeDeleterTimeoutMS", "",
	},
	{"transactionLifetimeLimitSeconds", "", "0s"},
}

// limits are the settings of limitKnobs beside the others.
func limits(others []scenario.Setting) (all []scenario.Setting) {
	for _, k := range limitKnobs {
		value := k.value
		for _, v := range others {
			if v.Name == k.like {
				value = v.Value
			}
		}
		all = append(all, scenario.Setting{Name: k.name, Value: value})
	}
	return all
}

// backgroundFaults are small rates of the world's own faults, drawn for profiles that have faults
// at all.
var backgroundFaults = []knob{
	{"sim.net.slowPerMillion", []string{"0", "0", "1000", "10000"}},
	{"sim.net.lossPerMillion", []string{"0", "0", "300", "3000"}},
	{"sim.net.duplicatePerMillion", []string{"0", "0", "1000", "10000"}},
	{"sim.net.lateCopiesPerMillion", []string{"0", "0", "20000", "100000"}},
	{"sim.disk.slowPerMillion", []string{"0", "0", "1000", "10000"}},
	{"sim.task.stallsPerMillion", []string{"0", "0", "2000", "10000"}},
	{"sim.task.errorsPerMillion", []string{"0", "0", "0", "300", "2000"}},
	{"sim.task.stallDelay", []string{"20ms", "5ms", "200ms", "500ms"}},
	{"sim.task.siteStallsPerMillion", []string{"0", "10000", "60000", "200000"}},
	{"sim.task.siteWakingsPerMillion", []string{"0", "10000", "60000", "200000"}},
	{"sim.task.siteErrorsPerMillion", []string{"0", "5000", "20000", "40000"}},
}

// QuickSettings are values with which a migration takes milliseconds: the first ones of all knobs.
// The defaults are those of real systems.
func QuickSettings() []scenario.Setting { return scenario.Preset("short") }

// DrawSetting draws one setting of a cluster or of its world, and a value.
func DrawSetting(roll func(question string, n int) int) scenario.Setting {
	all := slices.Concat(settingKnobs, pieceKnobs, worldKnobs, backgroundFaults)
	k := keyed.Choose(roll, "setting", all, func(k knob) (string, int) { return k.name, 1 })
	return scenario.Setting{Name: k.name, Value: keyed.One(roll, "value", k.values...)}
}

// A log of so few entries forgets within milliseconds what a retry or a member that was away needs:
// so many percent of the seeds have one.
const shortLog, shortLogShare = "12", 8

// drawSettings gives half of the seeds the quick values throughout, and the others a draw from each
// knob.
func drawSettings(d keyed.Source, p Profile) []scenario.Setting {
	var all []scenario.Setting
	wild := d.Chance("wild settings", 50)
	add := func(k knob, drawn bool) {
		value := k.values[0]
		if drawn {
			value = keyed.One(d.IntN, "set/"+k.name, k.values...)
		}
		all = append(all, scenario.Setting{Name: k.name, Value: value})
	}
	for _, k := range settingKnobs {
		add(k, wild)
		last := &all[len(all)-1]
		if k.name == "oplogMinRetentionEntries" && d.Chance("short log", shortLogShare) {
			last.Value = shortLog
		}
	}
	for _, k := range worldKnobs {
		add(k, wild)
	}
	all = append(all, limits(all)...)
	if p.size.faults == 0 {
		return all
	}
	for _, k := range backgroundFaults {
		add(k, true)
	}
	return all
}

// rareKnobs are settings that few operators touch, so that most seeds have their defaults. They are
// in no preset. Those that changed are read by servers at each use, and may be set while they run.
var rareKnobs = []struct {
	knob
	changed bool
}{
	{knob{"rangeDeleterHighPriority", []string{"1", "0"}}, true},
	{knob{"migrationLockAcquisitionMaxWaitMS", []string{"20ms", "2ms", "5s"}}, true},
	{knob{"transactionLifetimeLimitSeconds", []string{"50ms", "400ms", "60s"}}, true},
	{knob{"maxNumStaleVersionRetries", []string{"5", "30"}}, false},
}

// rareShare is how many percent of the seeds set each of them, rareChange how many of those change
// it again while servers run.
const rareShare, rareChange = 12, 40

// setRarely sets what few operators touch, at the start and later.
func setRarely(own keyed.Source, s *scenario.Scenario, z size) {
	for i, k := range rareKnobs {
		each := own.Fork(uint64(i))
		if !each.Chance("sets", rareShare) {
			continue
		}
		s.Set(scenario.Setting{Name: k.name, Value: keyed.One(each.IntN, "value", k.values...)})
		if k.changed && z.moves > 1 && each.Chance("changes", rareChange) {
			s.Commands = append(s.Commands, scenario.Command{
				At: time.Duration(each.IntN("at", int(z.span))),
				Do: commandkind.SetParameter, Name: k.name,
				Value: keyed.One(each.IntN, "changed", k.values...),
			})
		}
	}
	s.SortCommands()
}
