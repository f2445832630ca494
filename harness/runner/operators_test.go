package runner

import (
	"testing"
	"time"
)

// What is to come next comes early, once each.
func TestHurry(t *testing.T) {
	o := operators{}
	for _, at := range []time.Duration{300, 100, 200} {
		o.waiting = append(o.waiting, &appointment{at: at})
	}
	for _, want := range []time.Duration{100, 200, 300} {
		o.hurry()
		for _, a := range o.waiting {
			if a.hurried != (a.at <= want) {
				t.Errorf("at %d: hurried %t, with that at %d", a.at, a.hurried, want)
			}
		}
	}
	o.hurry() // nothing is left
}
