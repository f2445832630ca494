package settings

import "testing"

// TestAbout: every setting says what it does, and nothing is said of one that is gone.
func TestAbout(t *testing.T) {
	for _, name := range Names() {
		if About(name) == "" {
			t.Errorf("nothing says what %s does", name)
		}
	}
	if len(about) != len(Names()) {
		t.Errorf("%d settings are explained, and there are %d", len(about), len(Names()))
	}
}
