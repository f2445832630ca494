package protocoltest

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// messages are the requests that were sent on a stage, by kind.
type messages struct{ sent map[string][]sent }

// sent is a request that was sent.
type sent struct {
	to   env.NodeID
	body env.Message
}

// kindOf is the name of the command that a message is, and empty for answers.
func kindOf(m *sim.Message) string {
	if e, ok := m.Body.(*rpc.Envelope); ok && m.Call {
		return strings.TrimPrefix(fmt.Sprintf("%T", e.Body), "*command.")
	}
	return ""
}

// record keeps every request that is sent from now on, for redeliver.
func (s *Stage) record() {
	s.World.AddRule(sim.Rule{Match: func(m *sim.Message) bool {
		if kind := kindOf(m); kind != "" {
			s.sent[kind] = append(s.sent[kind], sent{m.To, m.Body.(*rpc.Envelope).Body})
		}
		return false
	}})
}

// recorded is the nth request of a kind, counted from 1.
func (s *Stage) recorded(kind string, nth int) (sent, error) {
	if len(s.sent[kind]) < nth {
		return sent{}, fmt.Errorf("%s was sent %d times, not %d", kind, len(s.sent[kind]), nth)
	}
	return s.sent[kind][nth-1], nil
}

func (s *Stage) showSent(l Line) error {
	s.Say("%s was sent %d times", l.Word(0), len(s.sent[l.Word(0)]))
	return nil
}

func (s *Stage) lose(l Line) error {
	kind := l.Word(0)
	rule := sim.Rule{
		Count: 1, Hold: true, Match: func(m *sim.Message) bool { return kindOf(m) == kind },
	}
	if l.Has("reply") {
		rule.Hold, rule.Fate = false, sim.Fate{LoseReply: true}
	}
	s.World.AddRule(rule)
	return nil
}
