package router

import (
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/status"
)

const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// effort bounds the attempts at one request: by their number, and by the time its client waits.
type effort struct {
	router *Router
	known  *routes
	ends   env.Time
	pause  time.Duration
	done   int
}

func (r *Router) effort(ns string) *effort {
	ends := r.ep.Node().Mono().Add(r.settings.AttemptTimeout)
	return &effort{router: r, known: r.routesOf(ns), ends: ends, pause: firstPause}
}

// stale reports whether err says that the request was targeted by an outdated table.
func stale(err error) bool {
	return status.Is(err, status.StaleConfig, status.StaleDbVersion, status.StaleEpoch)
}

// answered reports whether err is the answer of a member that could not finish the request as it lost its office: the
// attempt is over, though it may have executed.
func answered(err error) bool {
	return status.Is(err, status.PrimarySteppedDown, status.InterruptedDueToReplStateChange)
}

// again prepares the next attempt after one that was targeted by table failed with err; false means that err is final.
func (e *effort) again(t env.Task, table *Table, err error) bool {
	if stale(err) {
		if t.Point(point.RouterOnStale, env.Note{ID: e.known.ns, N: e.done}) != nil {
			return false
		}
		e.known.invalidate(table)
	}
	if e.done++; e.done >= e.router.settings.StaleRetries || e.ends.Sub(t.Node().Mono()) <= e.pause {
		return false
	}
	if t.Sleep(e.pause) != nil {
		return false
	}
	e.pause = min(2*e.pause, lastPause)
	return t.Point(point.RouterRetry, env.Note{ID: e.known.ns, N: e.done}) == nil
}

// repeatable reports whether a read that failed so may be sent again.
func repeatable(err error) bool {
	return stale(err) || rpc.Gone(err) || status.Is(err, status.QueryPlanKilled, status.ReadConcernMajorityNotAvailableYet)
}
