package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// presets are settings that many scenarios share, under a name: `preset quick` stands for their
// lines. What a preset holds never changes, as stored scenarios rely on it; other values are a
// preset of another name.
var presets = []struct {
	name     string
	settings []Setting
}{
	// quick has a migration take milliseconds. It suits scenarios that are written by hand.
	{"quick", settingsOf(`
electionTimeoutMillis 150ms
heartbeatIntervalMillis 50ms
defaultConfigCommandTimeoutMS 500ms
orphanCleanupDelaySecs 20ms
rangeDeleterBatchSize 2
migrateCloneInsertionBatchSize 2
transferModsBatchBytes 60
migrationRetryBackoffMillis 20ms
steadyPollMillis 2ms
sessionModsWaitMillis 5ms
recvChunkStatusWaitMillis 20ms
socketTimeoutMS 2s
moveRangeMaxWaitMillis 20s
cursorTimeoutMillis 2s`)},
	// drawn is what half of the drawn scenarios had before the limits in short were settings.
	{"drawn", drawn},
	// short is what half of the drawn scenarios have, and the other half vary: limits that are
	// reached within a run, and batches that are small. The defaults are those of real systems.
	{"short", slices.Concat(drawn, settingsOf(`
shardRequestTimeoutMillis 500ms
drainOverlappingRangeDeletionsOnStartTimeoutMS 2s
transactionLifetimeLimitSeconds 0s`))},
}

var drawn = settingsOf(`
electionTimeoutMillis 150ms
heartbeatIntervalMillis 50ms
oplogMinRetentionEntries 2000
stepDownCatchUpMillis 300ms
defaultConfigCommandTimeoutMS 500ms
criticalSectionWaitMillis 2s
writeConcernTimeoutMillis 2s
cursorTimeoutMillis 2s
socketTimeoutMS 2s
timeoutMS 5s
moveRangeMaxWaitMillis 20s
orphanCleanupDelaySecs 0s
rangeDeleterBatchSize 2
rangeDeleterBatchDelayMS 0s
receiveChunkWaitForRangeDeleterTimeoutMS 2s
migrateCloneInsertionBatchSize 3
migrateCloneBatchBytes 100
migrateCloneInsertionBatchDelayMS 0s
chunkMigrationFetcherMaxBufferedSizeBytesPerThread 67108864
transferModsBatchBytes 60
transferModsMemoryBytes 524288000
incrementChunkMajorVersionOnChunkSplits 0
incrementChunkMajorVersionOnChunkMerges 0
chunkSizeBytes 134217728
maxCatchUpPercentageBeforeBlockingWrites 10
moveChunkCatchUpMaxWaitMillis 5s
steadyPollMillis 1ms
recvChunkStatusWaitMillis 10ms
sessionModsWaitMillis 2ms
migrationRetryBackoffMillis 5ms
terminateSecondaryReadsOnOrphanCleanup 1
minSnapshotHistoryWindowInSeconds 0s
persistedChunkCacheUpdateMaxBatchSize 1000
sim.net.jitter 400us
sim.disk.syncLatency 100us
sim.task.yieldsPerMillion 125000`)

func settingsOf(text string) (all []Setting) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		name, value, _ := strings.Cut(line, " ")
		all = append(all, Setting{name, value})
	}
	return all
}

// Preset is the settings of a preset; nil for a name that is none.
func Preset(name string) []Setting {
	for _, p := range presets {
		if p.name == name {
			return slices.Clone(p.settings)
		}
	}
	return nil
}

func presetList() string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return strings.Join(names, " or ")
}

// Set gives a setting a value, in the place of the one that it had.
func (s *Scenario) Set(all ...Setting) {
	for _, v := range all {
		if i := s.setting(v.Name); i >= 0 {
			s.Settings[i] = v
			continue
		}
		s.Settings = append(s.Settings, v)
	}
}

// setting is where a setting stands; negative when it is not set.
func (s *Scenario) setting(name string) int {
	return slices.IndexFunc(s.Settings, func(v Setting) bool { return v.Name == name })
}

// presetOf is the preset that spares the most lines of the settings, which must begin with those of
// it in their order, and how many lines it spares; values may differ. Settings given twice are of
// no preset.
func presetOf(settings []Setting) (name string, held []Setting) {
	spared := 0
	for i := range settings {
		if slices.ContainsFunc(
			settings[:i], func(v Setting) bool { return v.Name == settings[i].Name },
		) {
			return "", nil
		}
	}
	for _, p := range presets {
		if len(settings) < len(p.settings) {
			continue
		}
		same := 0
		for i, v := range p.settings {
			if v.Name != settings[i].Name {
				same = -1
				break
			}
			if v == settings[i] {
				same++
			}
		}
		if same-1 > spared {
			name, held, spared = p.name, p.settings, same-1
		}
	}
	return name, held
}

// printSettings writes the settings, with a preset where that is shorter.
func (s *Scenario) printSettings(b *strings.Builder) {
	name, held := presetOf(s.Settings)
	if name != "" {
		fmt.Fprintf(b, "preset %s\n", name)
	}
	for i, v := range s.Settings {
		if i >= len(held) || v != held[i] {
			fmt.Fprintf(b, "%s\n", v)
		}
	}
}
