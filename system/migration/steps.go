package migration

import (
	"cmp"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
)

// longestPause bounds the growing pauses between repetitions.
const longestPause = 10 * time.Second

// step is a part of a protocol, announced under its site before it begins.
type step struct {
	site failpoint.Site
	do   func(env.Task) error
}

// pass announces a site, and fails as well when the term has ended together with the wait there:
// what the term had in memory is gone, and what is begun now would stay for good.
func pass(t env.Task, site failpoint.Site, note env.Note) error {
	return cmp.Or(t.Point(site, note), t.Err())
}

// inOrder takes the steps one after the other; the first failure ends it.
func inOrder(t env.Task, id string, steps ...step) error {
	for _, s := range steps {
		if err := pass(t, s.site, env.Note{ID: id}); err != nil {
			return err
		}
		if err := s.do(t); err != nil {
			return err
		}
	}
	return nil
}

// retryUntil takes a step again and again, with growing pauses, until it succeeds or the task is to
// end (protocol 9.1).
func (s *Service) retryUntil(
	t env.Task, id string, site failpoint.Site, do func(env.Task) error,
) error {
	pause := s.retryBackoff()
	for try := 0; ; try++ {
		err := t.Point(site, env.Note{ID: id, N: try})
		if err == nil {
			err = do(t)
		}
		if err == nil || t.Err() != nil {
			return err
		}
		s.node.Sometimes("a step of a migration is repeated")
		if err := t.Sleep(pause); err != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

func (s *Service) retryBackoff() time.Duration { return settings.Pause(s.settings.RetryBackoff) }

func (s *Service) steadyPoll() time.Duration { return settings.Pause(s.settings.SteadyPoll) }

// askPrimary sends a message that may be repeated to the primary of a replica set.
func askPrimary[Resp any](
	t env.Task, s *Service, set string, req env.Message, timeout time.Duration,
) (resp *Resp, err error) {
	return shard.Ask[Resp](t, s.shard, set, req, timeout)
}

func (s *Service) tell(t env.Task, set string, req env.Message) error {
	_, err := askPrimary[command.Done](t, s, set, req, s.settings.CommandTimeout)
	return err
}

func (s *Service) logChange(t env.Task, what, ns string, details bson.D) error {
	doc, err := bson.Marshal(details)
	s.node.Assert(err == nil, "the details %v of %s cannot be encoded: %v", details, what, err)
	return s.tell(t, shard.ConfigSet, &command.LogChange{What: what, NS: ns, Details: doc})
}

// retryPause is the pause before the next of several tries: 1, 2, 4, ... 1024 ms.
func retryPause(try int) time.Duration { return time.Millisecond << min(try, 10) }
