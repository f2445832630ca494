package generate

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/settings"
)

// asTheyAre are the settings of which no scenario is drawn that sets them, and why.
var asTheyAre = map[string]string{
	"chunkMigrationConcurrency": "it is 1, and nothing else can be set",
	"disableResumableRangeDeleter": "it counts from the start of a process on: each server would " +
		"have to start again before the ranges are deleted that the audit finds",
	"localTimeOffset": "members of one config server are in several time zones, each drawn as " +
		"sim.clock.utcOffset",
}

// TestDrawn: every setting of the cluster is drawn in some scenario, or there is a reason why
// not.
func TestDrawn(t *testing.T) {
	drawn := map[string]map[string]bool{}
	note := func(name, value string) {
		if drawn[name] == nil {
			drawn[name] = map[string]bool{}
		}
		drawn[name][value] = true
	}
	for _, p := range Profiles() {
		for seed := range uint64(200) {
			s := Draw(seed, p)
			for _, v := range s.Settings {
				note(v.Name, v.Value)
			}
		}
	}
	for _, name := range settings.Names() {
		switch n := len(drawn[name]); {
		case asTheyAre[name] != "" && n > 0:
			t.Errorf("%s is drawn, and there is a reason why it is not: %s", name, asTheyAre[name])
		case asTheyAre[name] == "" && n == 0:
			t.Errorf("%s is never drawn, and no reason is given", name)
		}
	}
}

// TestDrawnPreset: the preset of drawn scenarios has the first value of every knob, so that they
// print in few lines.
func TestDrawnPreset(t *testing.T) {
	var first []scenario.Setting
	for _, k := range slices.Concat(settingKnobs, worldKnobs) {
		first = append(first, scenario.Setting{Name: k.name, Value: k.values[0]})
	}
	first = append(first, limits(first)...)
	if held := scenario.Preset("short"); !slices.Equal(first, held) {
		t.Errorf("the preset holds %v, and the knobs begin with %v", held, first)
	}
}
