package policy

import (
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system/errcode"
)

// Window is when on a day the balancer may begin migrations, from Start up to and including Stop
// after midnight, local time of the config server's primary (errata E22). A Start after the Stop is
// on the day before. The zero Window is the whole day.
type Window struct{ Start, Stop time.Duration }

// ParseWindow reads two times like 23:00 and 7:00; errcode.BadValue for others, and for two that
// are the same.
func ParseWindow(start, stop string) (Window, error) {
	var w Window
	var err error
	if w.Start, err = timeOfDay(start); err != nil {
		return w, err
	}
	if w.Stop, err = timeOfDay(stop); err != nil {
		return w, err
	}
	if w.Start == w.Stop {
		return w, errcode.New(errcode.BadValue, "the active window begins and ends at %s", start)
	}
	return w, nil
}

func timeOfDay(s string) (time.Duration, error) {
	hours, minutes, _ := strings.Cut(s, ":")
	h, wrong := strconv.ParseUint(hours, 10, 8)
	m, alsoWrong := strconv.ParseUint(minutes, 10, 8)
	if wrong != nil || alsoWrong != nil || h > 23 || m > 59 || len(minutes) != 2 {
		return 0, errcode.New(errcode.BadValue, "%q is no time of a day, hours and minutes", s)
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute, nil
}

// Contains reports whether the window is open. The time is that since any midnight in UTC, as a
// clock shows it, and the offset is that of the local time zone.
func (w Window) Contains(utc, offset time.Duration) bool {
	const day = 24 * time.Hour
	now := ((utc+offset)%day + day) % day
	switch {
	case w == Window{}:
		return true
	case w.Start < w.Stop:
		return w.Start <= now && now <= w.Stop
	}
	return w.Start <= now || now <= w.Stop
}
