package migration

import (
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// sequencedPulls answers the numbered requests of one puller in order, one at a time. A number that
// was answered last is answered alike, so that neither a lost answer nor a duplicated request moves
// the cursor behind it. The zero sequencedPulls has answered nothing.
type sequencedPulls[T any] struct {
	number uint64
	last   *T
	busy   bool
	free   env.Cond
}

// serve answers request number with what next returns. When next fails, it must leave everything as
// it was: the same number may be asked again.
func (p *sequencedPulls[T]) serve(
	t env.Task, number uint64, next func(env.Task) (*T, error),
) (*T, error) {
	if err := p.free.WaitFor(t, 0, func() bool { return !p.busy }); err != nil {
		return nil, err
	}
	switch {
	case number == p.number && p.last != nil:
		return p.last, nil
	case number != p.number+1:
		return nil, errcode.New(errcode.StaleSession, "request %d is out of turn after %d",
			number, p.number)
	}
	p.busy = true
	answer, err := next(t)
	if err == nil {
		p.number, p.last = number, answer
	}
	p.busy = false
	p.free.Broadcast()
	return answer, err
}
