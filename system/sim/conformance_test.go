package sim_test

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env/envtest"
	"github.com/shardproof/shardproof/system/sim"
)

// simulated is a simulated world as the table of promises drives it.
type simulated struct {
	*sim.World
	said []string
}

func (s *simulated) Say(line string) { s.said = append(s.said, line) }
func (s *simulated) Said() []string  { return s.said }
func (s *simulated) Broken() error   { return s.Err() }

func (s *simulated) Wait(until func() bool) bool {
	s.Run(until, s.Now().Add(2*time.Second))
	return until()
}

// TestConformance: the simulated world keeps the promises of env, as the live one does.
func TestConformance(t *testing.T) {
	envtest.Run(t, func(t *testing.T) envtest.World {
		w := sim.New(sim.Options{Seed: 1, Codec: envtest.Codec})
		t.Cleanup(w.Close)
		return &simulated{World: w}
	})
}
