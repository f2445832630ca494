package settings

import (
	"testing"
	"time"
)

// An interval of less than a millisecond becomes one; longer ones are as they were set.
func TestPause(t *testing.T) {
	for interval, want := range map[time.Duration]time.Duration{
		0:                      time.Millisecond,
		500 * time.Microsecond: time.Millisecond,
		time.Millisecond:       time.Millisecond,
		3 * time.Millisecond:   3 * time.Millisecond,
		time.Hour:              time.Hour,
	} {
		if got := Pause(interval); got != want {
			t.Errorf("an interval of %v is a pause of %v, want %v", interval, got, want)
		}
	}
}
