// Package terms switches failpoints on by name, in the language of github.com/pingcap/failpoint,
// for one cluster and in virtual time: `30%2*return("crash")->return("pause=50ms")`.
//
// Promise: what a set does depends on its terms, the seed and how often each site was passed, on
// nothing else; sets of different clusters share nothing. Percentages are drawn from the cluster's
// choice gate, keyed by site and hit.
//
// Refusal: whatever would act on the real process or the real clock (sleep, pause, break, print,
// panic) is an error that names the replacement.
package terms

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Do is what a failpoint does to the task that passes it.
type Do uint8

// The effects.
const (
	Nothing  Do = iota
	Crash       // the node crashes
	StepDown    // the node, if primary, hands over
	Fail        // the step fails with Code
	Pause       // the task stalls For
	Delay       // the task stalls for a drawn time up to For
	Until       // the task stalls until Site is passed by another
)

// Effect is an answer of a set.
type Effect struct {
	Do   Do
	Code errcode.Code
	For  time.Duration
	Site failpoint.Site
}

// Set holds the failpoints of one cluster. The zero Set is not ready; use New.
type Set struct {
	draw   func(site string, n int) int
	chains map[failpoint.Site][]*link
	fired  map[failpoint.Site]int
}

// New returns an empty set. Draw answers a question at the choice gate with a number in [0,n).
func New(draw func(site string, n int) int) *Set {
	return &Set{
		draw:   draw,
		chains: make(map[failpoint.Site][]*link),
		fired:  make(map[failpoint.Site]int),
	}
}

// Names lists every failpoint.
func Names() []string {
	var names []string
	for _, in := range failpoint.All() {
		names = append(names, in.Name)
	}
	return names
}

// Enable sets the terms of a failpoint, in place of earlier ones.
func (s *Set) Enable(name, terms string) error {
	site, ok := failpoint.Parse(name)
	if !ok {
		return suggest.Unknown("failpoint", name, Names(), "failpoints")
	}
	chain, err := parseChain(terms)
	if err != nil {
		return fmt.Errorf("failpoint %s: %w", name, err)
	}
	s.chains[site] = chain
	return nil
}

// Split cuts the value of GO_FAILPOINTS, "name=terms;name=terms", into pairs.
func Split(spec string) ([][2]string, error) {
	var pairs [][2]string
	for _, part := range strings.Split(spec, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, terms, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("failpoints are written name=terms;name=terms, but %q has no =",
				part)
		}
		pairs = append(pairs, [2]string{strings.TrimSpace(name), strings.TrimSpace(terms)})
	}
	return pairs, nil
}

// Empty is true when nothing is enabled.
func (s *Set) Empty() bool { return len(s.chains) == 0 }

// Fired is how often the site's terms had an effect.
func (s *Set) Fired(site failpoint.Site) int { return s.fired[site] }

// Eval says what happens to a task that passes site now: the first term of the chain whose
// percentage and count allow it decides.
func (s *Set) Eval(site failpoint.Site) Effect {
	for i, l := range s.chains[site] {
		if l.partsPerMillion < million &&
			s.draw(fmt.Sprintf("%s#%d", site, i), million) >= l.partsPerMillion {
			continue
		}
		value, err := l.rest.Eval()
		if err != nil {
			continue
		}
		text, ok := value.(string)
		if !ok {
			return Effect{}
		}
		effect, err := parseEffect(text)
		if err != nil {
			panic(fmt.Sprintf("failpoints: terms of %s were accepted but cannot be read: %v",
				site, err))
		}
		s.fired[site]++
		return effect
	}
	return Effect{}
}
