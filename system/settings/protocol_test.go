package settings_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/settings"
)

// absent are the parameters of the specification that nothing here could read, and why.
var absent = map[string]string{
	"metadataRefreshInTransactionMaxWaitBehindCritSecMS": "there are no transactions",
}

// elsewhere are fields of a document of config.settings.
func elsewhere(name string) bool { return strings.HasPrefix(name, "_") }

// TestDefaultsOfTheSpecification: every parameter of protocol 16 is a setting with the default that
// the table gives, in the unit of its name, and says who reads it.
func TestDefaultsOfTheSpecification(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## 16. ")
	section, _, _ = strings.Cut(section, "\n## ")
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (true|false|\\d+)")
	rows := row.FindAllStringSubmatch(section, -1)
	if len(rows) < 18 {
		t.Fatalf("only %d parameters are found in the table", len(rows))
	}
	for _, r := range rows {
		name, want := r[1], r[2]
		if elsewhere(name) || absent[name] != "" {
			continue
		}
		now, other := settings.Default80(), settings.Default80()
		got, known := now.Get(name)
		if !known || settings.Unit(name) == "" || settings.Reader(name) == "" {
			t.Errorf("%s is no setting with unit (%q) and reader (%q)",
				name, settings.Unit(name), settings.Reader(name))
			continue
		}
		if err := other.Set(name, want); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if now != other {
			t.Errorf("%s is %s, and the specification says %s", name, got, want)
		}
	}
}

// TestPlainNumbers: a number without a unit counts in that of the setting, and what makes no sense
// is refused with a sentence.
func TestPlainNumbers(t *testing.T) {
	for _, c := range []struct{ name, value, want, wrong string }{
		{"orphanCleanupDelaySecs", "900", "15m0s", ""},
		{"orphanCleanupDelaySecs", "20ms", "20ms", ""},
		{"rangeDeleterBatchDelayMS", "20", "20ms", ""},
		{"balancerRoundIntervalMillis", "10000", "10s", ""},
		{"minSnapshotHistoryWindowInSeconds", "300", (5 * time.Minute).String(), ""},
		{"rangeDeleterHighPriority", "true", "1", ""},
		{"rangeDeleterHighPriority", "0", "0", ""},
		{"rangeDeleterHighPriority", "2", "", "is true or false"},
		{"rangeDeleterBatchDelayMS", "-1", "", "needs a duration of zero or more"},
		{"orphanCleanupDelaySecs", "9223372036854775807", "", "needs a duration of zero or more"},
		{"rangeDeleterBatchSize", "20ms", "", "needs a whole number"},
		{"chunkMigrationConcurrency", "2", "", "cannot be changed from 8.0.5 on"},
	} {
		s := settings.Default80()
		err := s.Set(c.name, c.value)
		got, _ := s.Get(c.name)
		switch {
		case c.wrong == "" && (err != nil || got != c.want):
			t.Errorf("%s %s is %s (%v), want %s", c.name, c.value, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s %s: %v, want an error with %q", c.name, c.value, err, c.wrong)
		}
	}
}
