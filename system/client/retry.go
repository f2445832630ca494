package client

import (
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

const (
	firstPause = 10 * time.Millisecond
	lastPause  = 320 * time.Millisecond
)

// retries are the attempts of one operation: which router is asked, how long an answer is waited
// for, when to give up.
type retries struct {
	client   *Client
	deadline env.Time
	pause    time.Duration
	done     int  // attempts after the first
	picked   int  // the router asked last
	avoid    bool // it did not answer
}

func (c *Client) newRetries() *retries {
	return &retries{
		client:   c,
		deadline: c.ep.Node().Mono().Add(c.settings.ClientDeadline),
		pause:    firstPause,
	}
}

// router picks the router of the next attempt, any but the one that did not answer.
func (a *retries) router() env.NodeID {
	routers, node := a.client.routers, a.client.ep.Node()
	switch n := len(routers); {
	case a.avoid && n > 1:
		a.picked = (a.picked + 1 + node.Choose(ChooseRouter, string(node.ID()), n-1)) % n
	case n > 1:
		a.picked = node.Choose(ChooseRouter, string(node.ID()), n)
	}
	return routers[a.picked]
}

// timeout is how long the next answer is waited for.
func (a *retries) timeout() time.Duration {
	left := a.deadline.Sub(a.client.ep.Node().Mono())
	return max(1, min(left, a.client.settings.AttemptTimeout))
}

// again pauses before the next attempt; false means that time is up.
func (a *retries) again(t env.Task, err error) bool {
	if t.Err() != nil || a.timeout() <= a.pause {
		return false
	}
	if t.Sleep(a.pause) != nil {
		return false
	}
	a.avoid = errcode.Is(err, errcode.NetworkTimeout, errcode.HostUnreachable)
	a.pause = min(2*a.pause, lastPause)
	a.done++
	return true
}
