package shrink

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// newestProtocol tries the version of the protocol that scenarios speak when they name none.
func newestProtocol(*scenario.Scenario) []edit {
	return []edit{func(s *scenario.Scenario) { s.Protocol = "" }}
}

// widerRanges moves the bounds of migrations, splits and merges: to the ends, or to where another
// bound is already.
func widerRanges(s *scenario.Scenario) (all []edit) {
	for i := range s.Migrations {
		all = append(all,
			func(s *scenario.Scenario) { s.Migrations[i].Min = math.MinInt64 },
			func(s *scenario.Scenario) { s.Migrations[i].Max = math.MaxInt64 },
		)
	}
	for i, c := range s.Commands {
		switch c.Do {
		case commandkind.MergeChunks:
			all = append(all,
				func(s *scenario.Scenario) { s.Commands[i].Min = math.MinInt64 },
				func(s *scenario.Scenario) { s.Commands[i].Max = math.MaxInt64 },
			)
		case commandkind.SplitChunk:
			for _, at := range innerBounds(s) {
				all = append(all, func(s *scenario.Scenario) { s.Commands[i].Min = at })
			}
		}
	}
	return all
}

// innerBounds are the inner ones of all migrations, in order: a split elsewhere is one more place
// to think of.
func innerBounds(s *scenario.Scenario) (all []int64) {
	for _, m := range s.Migrations {
		for _, at := range []int64{m.Min, m.Max} {
			if at != math.MinInt64 && at != math.MaxInt64 {
				all = append(all, at)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rounderSettings gives settings that must stay away from their default a value that is easier to
// read: one digit and zeros.
func rounderSettings(s *scenario.Scenario) (all []edit) {
	for i, v := range s.Settings {
		if to := oneDigit(v.Value); to != "" && to != v.Value {
			all = append(all, func(s *scenario.Scenario) { s.Settings[i].Value = to })
		}
	}
	return all
}

// oneDigit is a number or duration with one digit left, empty for anything else.
func oneDigit(value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return strconv.FormatInt(firstDigit(n), 10)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return time.Duration(firstDigit(int64(d))).String()
	}
	return ""
}

func firstDigit(n int64) int64 {
	unit := int64(1)
	for n/unit >= 10 {
		unit *= 10
	}
	return n / unit * unit
}
