package balance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Judge compares what a round has chosen, in order, with what it has to choose, and says what is
// wrong: "" if nothing is. Show turns an encoded key into text.
func (r *Round) Judge(chosen []Choice, show func(string) string) string {
	if name := r.unweighed(); name != "" {
		if len(chosen) == 0 {
			return ""
		}
		return fmt.Sprintf("%s was chosen, but %s, which has a maxSize, has not reported its data size",
			chosen[0].show(show), name)
	}
	used := taken{}
	for _, s := range r.Shards {
		if s.Busy {
			used[s.Name] = true
		}
	}
	// These are the sets of shards that may have been taken while a collection was considered of
	// which nothing was chosen.
	before := []taken{maps.Clone(used)}
	done := map[string]bool{}
	for len(chosen) > 0 {
		c := r.collection(chosen[0].NS)
		if c == nil {
			return fmt.Sprintf("%s is no sharded collection", chosen[0].NS)
		}
		n := slices.IndexFunc(chosen, func(other Choice) bool { return other.NS != c.NS })
		if n < 0 {
			n = len(chosen)
		}
		if done[c.NS] {
			return fmt.Sprintf("%s was looked at twice", c.NS)
		}
		done[c.NS] = true
		if wrong := r.judgeOne(c, chosen[:n], used, show); wrong != "" {
			return wrong
		}
		before = append(before, maps.Clone(used))
		chosen = chosen[n:]
	}
	for i := range r.Collections {
		c := &r.Collections[i]
		if !done[c.NS] && !slices.ContainsFunc(before, func(used taken) bool {
			return r.judgeOne(c, nil, maps.Clone(used), show) == ""
		}) {
			return r.judgeOne(c, nil, before[len(before)-1], show)
		}
	}
	return ""
}

// judgeOne judges what was chosen for one collection, and marks the shards as taken.
func (r *Round) judgeOne(
	c *Collection, chosen []Choice, used taken, show func(string) string,
) string {
	switch {
	case r.AtRandom && !c.Defragment:
		return r.judgeRandom(c, chosen, used, show)
	case c.Defragment && !c.Off:
		return r.judgeFragments(c, chosen, used, show)
	}
	var before *options
	for _, choice := range chosen {
		o := r.next(c, used, before)
		if !slices.Contains(o.any, choice) {
			return fmt.Sprintf("%s moves, and what had to come was %s",
				choice.show(show), o.text(show))
		}
		o.zone, _ = c.zoneOf(choice.Min, choice.Max)
		used[choice.From], used[choice.To], before = true, true, &o
	}
	if o := r.next(c, used, before); !o.idle {
		return fmt.Sprintf("it has left undone %s%s", o.text(show), c.ofZone(o))
	}
	return ""
}

// judgeRandom judges what holds for every choice.
func (r *Round) judgeRandom(
	c *Collection, chosen []Choice, used taken, show func(string) string,
) string {
	for _, choice := range chosen {
		if wrong := r.Forbids(choice); wrong != "" {
			return choice.show(show) + " moves, and " + wrong
		}
		if used[choice.From] || used[choice.To] {
			return choice.show(show) + " moves, and one of its shards is taken"
		}
		used[choice.From], used[choice.To] = true, true
	}
	return ""
}

// Forbids says why a chunk must not move that way under any policy; "" when it may.
func (r *Round) Forbids(choice Choice) string {
	c, to := r.collection(choice.NS), r.shard(choice.To)
	if c == nil || to == nil {
		return "there is no such collection or shard"
	}
	i := slices.IndexFunc(c.Chunks, func(at Chunk) bool {
		return at.Min == choice.Min && at.Max == choice.Max && at.Shard == choice.From
	})
	if i < 0 {
		return fmt.Sprintf("%s has no such chunk", choice.From)
	}
	zone, crosses := c.zoneOf(choice.Min, choice.Max)
	switch {
	case choice.From == choice.To:
		return "it is there already"
	case c.Off:
		return "nothing of the collection may move"
	case c.Chunks[i].Jumbo:
		return "it is jumbo"
	case crosses:
		return "it has to be cut for zones first"
	case !r.takes(to, zone):
		return fmt.Sprintf("%s takes nothing of zone %q", choice.To, zone)
	}
	return ""
}

// Single says why a chunk must not move that way although a shard has asked for it; "" when it may.
func (r *Round) Single(choice Choice) string {
	if wrong := r.Forbids(choice); wrong != "" {
		return wrong
	}
	used := taken{}
	for _, s := range r.Shards {
		if s.Busy {
			used[s.Name] = true
		}
	}
	if used[choice.From] || used[choice.To] {
		return "one of its shards is taken"
	}
	c := r.collection(choice.NS)
	zone, _ := c.zoneOf(choice.Min, choice.Max)
	if to := r.receivers(c, used, zone); !slices.Contains(to, choice.To) {
		return fmt.Sprintf("least of the collection have %v", to)
	}
	return ""
}

// Request is what the request for a choice has to say, beside what moves, by settings as they are
// in another state and for chunks of that size; single means that a shard has asked for it, which
// forces nothing.
func (r *Round) Request(choice Choice, single bool, settings *Round, chunkBytes int64) string {
	forced := settings.Forced && !single
	c := r.collection(choice.NS)
	if c == nil {
		return ""
	}
	if from := r.shard(choice.From); r.BySize && !r.AtRandom && !c.Defragment && from != nil {
		forced = forced || from.Draining
	}
	return Asking(settings.WaitForDelete, forced, settings.Throttle, chunkBytes)
}

// Asking is the options of a request of the balancer.
func Asking(waitForDelete, forced bool, throttle string, chunkBytes int64) string {
	text := fmt.Sprintf("balancer chunkBytes=%d throttle=%s", chunkBytes, throttle)
	if waitForDelete {
		text += waits
	}
	if forced {
		text += " forceJumbo=balancer"
	}
	return text
}

// waits is how a request says that it includes the deletion of what has moved.
const waits = " waitForDelete"

// Waits says whether a request, as Asking writes it, includes the deletion.
func Waits(asking string) bool { return strings.Contains(asking, waits) }

func (o options) text(show func(string) string) string {
	if len(o.any) == 0 {
		return "nothing"
	}
	text := o.any[0].show(show)
	if n := len(o.any); n > 1 {
		text += fmt.Sprintf(", or %s", others(n-1))
	}
	return text
}

// ofZone says of which zone the first choice is, if of any.
func (c *Collection) ofZone(o options) string {
	if len(o.any) == 0 {
		return ""
	}
	zone, _ := c.zoneOf(o.any[0].Min, o.any[0].Max)
	if zone == "" {
		return ""
	}
	return ", as it is of zone " + zone
}

// others counts choices that are as good.
func others(n int) string {
	if n == 1 {
		return "another that is as good"
	}
	return fmt.Sprintf("one of %d others that are as good", n)
}

func (c Choice) show(key func(string) string) string {
	return fmt.Sprintf("[%s, %s) of %s from %s to %s", key(c.Min), key(c.Max), c.NS, c.From, c.To)
}
