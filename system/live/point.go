package live

import (
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Point implements env.Task. A failpoint that is switched on is evaluated on a goroutine of its
// own, as it may sleep or pause there, while the task waits.
func (t *task) Point(site failpoint.Site, _ env.Note) error {
	if err := t.enter(); err != nil {
		return err
	}
	if !failpointOn(site) {
		return nil
	}
	then := t.waits
	go func() {
		effect := evaluate(site)
		t.node.loop.post(func() {
			if t.waitsFor(held, then) {
				t.answer = effect
				t.wake(nil)
			}
		})
	}()
	if err := t.wait(held); err != nil {
		return err
	}
	effect, _ := t.answer.(effect)
	t.answer = nil
	if effect.crash {
		t.node.opts.Log.Warn("a failpoint crashes the process", "site", site.String())
		crash()
	}
	return effect.err
}
