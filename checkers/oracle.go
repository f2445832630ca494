package checkers

import "github.com/shardproof/shardproof/histories/event"

type rule struct{ checker Checker }

var rules []rule

// Oracle judges a run while it happens.
type Oracle struct{}

// NewOracle returns an oracle that has seen nothing. show turns an encoded key into text for people; nil shows its bytes.
func NewOracle(show func(key string) string) *Oracle { return &Oracle{} }

// Observe takes the next event.
func (o *Oracle) Observe(e *event.Event) {}

// Broken is the first violation, nil as long as every promise holds.
func (o *Oracle) Broken() *Violation { return nil }

// Verdicts are the conclusions of all rules on what was observed.
func (o *Oracle) Verdicts() []Verdict { return nil }
