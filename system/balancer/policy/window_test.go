package policy_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/errcode"
)

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		start, stop string
		utc         string
		offset      time.Duration
		want        bool
	}{
		{"9:00", "17:00", "8:59:59.999", 0, false},
		{"9:00", "17:00", "9:00:00", 0, true},
		{"9:00", "17:00", "17:00:00", 0, true}, // both bounds are inside
		{"9:00", "17:00", "17:00:00.001", 0, false},
		{"21:00", "7:00", "21:00:00", 0, true}, // the sources' example over midnight
		{"21:00", "7:00", "23:59:59.999", 0, true},
		{"21:00", "7:00", "0:00:00", 0, true},
		{"21:00", "7:00", "7:00:00", 0, true},
		{"21:00", "7:00", "7:00:00.001", 0, false},
		{"21:00", "7:00", "20:59:59.999", 0, false},
		{"21:00", "7:00", "12:00:00", 8 * time.Hour, false}, // 20:00 in Shanghai
		{"21:00", "7:00", "13:00:00", 8 * time.Hour, true},
		{"21:00", "7:00", "23:00:00", 8 * time.Hour, true},  // 7:00 on the next day
		{"21:00", "7:00", "2:00:00", -5 * time.Hour, true},  // 21:00 on the day before
		{"21:00", "7:00", "1:59:00", -5 * time.Hour, false}, // and a minute earlier
		{"00:00", "23:59", "23:59:30", 0, false},
	} {
		w, err := policy.ParseWindow(c.start, c.stop)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse("15:04:05", c.utc)
		if err != nil {
			t.Fatal(err)
		}
		since := at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
		for days := range time.Duration(3) {
			if got := w.Contains(since+days*24*time.Hour, c.offset); got != c.want {
				t.Errorf("%s to %s at %s%+v on day %d: %v",
					c.start, c.stop, c.utc, c.offset, days, got)
			}
		}
	}
	if !(policy.Window{}).Contains(12*time.Hour, 0) {
		t.Error("without a window, noon is outside")
	}
}

func TestRefusedWindows(t *testing.T) {
	for _, c := range [][2]string{
		{"9:00", "9:00"}, {"09:00", "9:00"}, {"24:00", "1:00"}, {"9:60", "10:00"}, {"9", "10:00"},
		{"", "10:00"}, {"9:00", "10:0"}, {"-1:00", "10:00"}, {"9:00:00", "10:00"},
		{"nine", "10:00"}, {"+9:00", "10:00"}, {"9:00", ""},
	} {
		if w, err := policy.ParseWindow(c[0], c[1]); !errcode.Is(err, errcode.BadValue) {
			t.Errorf("%v became %v, %v", c, w, err)
		}
	}
}

// TestWindowAndItsReverse: a moment is in a window or in the one from its end to its beginning, and
// in both at the bounds only.
func TestWindowAndItsReverse(t *testing.T) {
	const day = 24 * time.Hour
	rapid.Check(t, func(t *rapid.T) {
		minute := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 24*60-1).Draw(t, "minute")) * time.Minute
		})
		w := policy.Window{Start: minute.Draw(t, "start"), Stop: minute.Draw(t, "stop")}
		if w.Start == w.Stop {
			return
		}
		at := time.Duration(rapid.Int64Range(0, int64(9*day)).Draw(t, "at"))
		if rapid.Bool().Draw(t, "whole minutes") {
			at = at.Truncate(time.Minute)
		}
		offset := time.Duration(rapid.IntRange(-24, 28).Draw(t, "offset")) * 30 * time.Minute
		in := w.Contains(at, offset)
		reverse := policy.Window{Start: w.Stop, Stop: w.Start}.Contains(at, offset)
		local := (at + offset + 2*day) % day
		if bound := local == w.Start || local == w.Stop; in && reverse != bound || !in && !reverse {
			t.Fatalf("%v contains %v: %v, its reverse: %v", w, local, in, reverse)
		}
	})
}
