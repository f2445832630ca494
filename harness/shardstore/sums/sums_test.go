package sums

import (
	"testing"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// An answer of a router is the sum of what shards have answered to the same request, and as new as
// the newest of them.
func TestSums(t *testing.T) {
	executed, found := command.Written{N: 1, Time: 9}, command.Written{N: 1, Time: 5, Retried: true}
	twice := func(all command.Written) env.Message { all.N, all.Retried = 2, true; return &all }
	late := command.Written{N: 1, Time: 9, ConcernError: "too late"}
	for name, c := range map[string]struct {
		parts  []command.Written
		answer env.Message
		wrong  int
	}{
		"none":               {nil, &command.Written{}, 0},
		"one":                {[]command.Written{executed}, &command.Written{N: 1, Time: 9}, 0},
		"newer":              {[]command.Written{executed}, &command.Written{N: 1, Time: 10}, 0},
		"older":              {[]command.Written{executed}, &command.Written{N: 1, Time: 8}, 1},
		"two":                {[]command.Written{executed, found}, &command.Written{N: 2, Time: 9}, 0},
		"as old as the last": {[]command.Written{executed, found}, &command.Written{N: 2, Time: 5}, 1},
		"one left out":       {[]command.Written{executed, found}, &command.Written{N: 1, Time: 9}, 1},
		"found, both":        {[]command.Written{found, found}, twice(found), 0},
		"found, one":         {[]command.Written{executed, found}, twice(executed), 1},
		"a concern hidden":   {[]command.Written{late}, &command.Written{N: 1, Time: 9}, 1},
		"a failure":          {[]command.Written{executed}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var r Routers
			for i := range c.parts {
				r.Ended(&env.Exchange{From: "router.0", To: "a.0", Task: 7}, &c.parts[i])
			}
			other := &env.Exchange{To: "router.0", Task: 8}
			if wrong := r.Answered(other, &command.Written{N: 3}); len(wrong) > 0 {
				t.Errorf("the answer to another request: %v", wrong)
			}
			answer := &env.Exchange{To: "router.0", Task: 7}
			if wrong := r.Answered(answer, c.answer); len(wrong) != c.wrong {
				t.Errorf("wrong: %v", wrong)
			}
			if wrong := r.Answered(answer, &command.Written{N: 3}); len(wrong) > 0 {
				t.Errorf("an answered request is remembered: %v", wrong)
			}
		})
	}
}
