package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/system/settings"
)

// TestEffectsAreShown: testdata/effects has every setting in the order of its declaration, and the
// file that it names has the setting, or the word that stands for it.
func TestEffectsAreShown(t *testing.T) {
	list, err := os.ReadFile("testdata/effects")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := append(strings.Fields(line), "", "")
		name, path, word := words[0], words[1], words[2]
		listed = append(listed, name)
		if word == "" {
			word = name
		}
		shown, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(string(shown), word) {
			t.Errorf("%s has no %s, which should show %s", path, word, name)
		}
	}
	if want := settings.Names(); strings.Join(listed, " ") != strings.Join(want, " ") {
		t.Errorf("testdata/effects lists\n%v\nand the settings are\n%v", listed, want)
	}
}
