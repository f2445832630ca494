package settings_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/settings"
)

// FuzzSet gives settings whatever values: each is taken, or refused with a reason and no effect.
func FuzzSet(f *testing.F) {
	f.Add("orphanCleanupDelaySecs", "10h")
	f.Add("chunkSizeBytes", "-1")
	f.Add("nothing", "9223372036854775808")
	f.Fuzz(func(t *testing.T, name, value string) {
		s := settings.Default80()
		before := s
		if err := s.Set(name, value); err != nil && (err.Error() == "" || s != before) {
			t.Fatalf("refused with %q, and changed: %v", err, s != before)
		}
	})
}
