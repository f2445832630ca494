package generate

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/histories/scenario"
)

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
