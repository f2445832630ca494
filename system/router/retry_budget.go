package router

import (
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rpc"
)

const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// retryBudget bounds the attempts at one request: by their number, and by the time its client
// waits.
type retryBudget struct {
	router *Router
	known  *routingCache
	ends   env.Time
	pause  time.Duration
	done   int
}

func (r *Router) newRetryBudget(ns string) *retryBudget {
	ends := r.ep.Node().Mono().Add(r.settings.AttemptTimeout)
	return &retryBudget{router: r, known: r.routesOf(ns), ends: ends, pause: firstPause}
}

// isStale reports whether err says that the request was targeted by an outdated table.
func isStale(err error) bool {
	return errcode.Is(err, errcode.StaleConfig, errcode.StaleDbVersion, errcode.StaleEpoch)
}

// isMemberFailure reports whether err is the answer of a member that could not finish the request
// as it stepped down: the attempt is over, though it may have executed.
func isMemberFailure(err error) bool {
	return errcode.Is(err, errcode.PrimarySteppedDown, errcode.InterruptedDueToReplStateChange)
}

// again prepares the next attempt after one that was targeted by table failed with err; false means
// that err is final.
func (e *retryBudget) again(t env.Task, table *Table, err error) bool {
	if isStale(err) {
		if t.Point(failpoint.RouterOnStale, env.Note{ID: e.known.ns, N: e.done}) != nil {
			return false
		}
		e.known.invalidate(table)
	}
	if e.done++; e.done >= e.router.settings.StaleRetries ||
		e.ends.Sub(t.Node().Mono()) <= e.pause {
		return false
	}
	if t.Sleep(e.pause) != nil {
		return false
	}
	e.pause = min(2*e.pause, lastPause)
	return t.Point(failpoint.RouterRetry, env.Note{ID: e.known.ns, N: e.done}) == nil
}

// isRetryableRead reports whether a read that failed so may be sent again.
func isRetryableRead(err error) bool {
	return isStale(err) || rpc.Gone(err) ||
		errcode.Is(err, errcode.QueryPlanKilled, errcode.ReadConcernMajorityNotAvailableYet)
}
