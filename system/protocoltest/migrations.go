package protocoltest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// ask sends a command to the primary of a set, and shows what is answered.
func (r *Rig) ask(what, set string, req env.Message) { r.askFor(time.Minute, what, set, req) }

func (r *Rig) askFor(patience time.Duration, what, set string, req env.Message) {
	r.Request(r.Operator(), func(t env.Task) {
		_, err := rpc.CallPrimary[command.Done](t, r.Operator().Sets[set], req, patience)
		r.answer(what, err)
	})
}

// throughRouter sends a command to the first router, and shows what is answered.
func (r *Rig) throughRouter(what string, req env.Message) {
	r.Request(r.Operator(), func(t env.Task) {
		_, err := rpc.Call[command.Done](t, r.Operator().Endpoint, "router.0", req, time.Minute)
		r.answer(what, err)
	})
}

func (r *Rig) answer(what string, err error) {
	if err != nil {
		r.Say("%s: %v", what, err)
		return
	}
	r.Say("%s: ok", what)
}

func (r *Rig) move(l Line) error {
	to := l.Arg("to", "shard-b")
	if find := l.Arg("find", ""); find != "" {
		req := &command.MoveRange{NS: Sharded, Find: Bound(find), To: to, Name: "move"}
		r.ask(fmt.Sprintf("move of the chunk with %s to %s", find, to), configsvr.Name, req)
		return nil
	}
	rng := l.Range()
	what := fmt.Sprintf("move of %s to %s", shown(rng), to)
	if from := l.Arg("donor", ""); from != "" { // past the config server, which would try again
		req := &command.ShardsvrMoveRange{NS: Sharded, Min: rng.Min, Max: rng.Max, To: to}
		r.ask(what, from, req)
		return nil
	}
	patience, err := time.ParseDuration(l.Arg("patience", "1m"))
	if err != nil {
		return err
	}
	throttle, _ := strconv.Atoi(l.Arg("throttle", "0"))
	r.askFor(patience, what, configsvr.Name, &command.MoveRange{
		NS: l.Arg("in", Sharded), Min: rng.Min, Max: rng.Max, To: to, Name: "move",
		WaitDelete: l.Has("wait"), ForceJumbo: command.ForceJumbo(l.Arg("force", "")),
		Throttle: command.WriteConcern{W: throttle}, ChunkBytes: l.Number("bytes", 0),
	})
	return nil
}

// shown is the range as scripts print it; what is open, the donor chooses.
func shown(rng key.Range) string {
	switch {
	case rng.Min == "":
		return fmt.Sprintf("what lies below %v", rng.Max)
	case rng.Max == "":
		return fmt.Sprintf("what lies from %v on", rng.Min)
	}
	return rng.String()
}

func (r *Rig) raise(l Line) error {
	table, err := r.Cluster.Catalog(Sharded)
	if err != nil {
		return err
	}
	rng := l.Range()
	r.ask(fmt.Sprintf("raise of %v", rng), configsvr.Name, &command.EnsureChunkVersionIsGreaterThan{
		NS: Sharded, UUID: table.Collection().UUID, Min: rng.Min, Max: rng.Max,
		Version: table.Owner(rng.Min).Version,
	})
	return nil
}

func (r *Rig) movePrimary(l Line) error {
	to := l.Arg("to", "shard-b")
	r.throughRouter("movePrimary to "+to, &command.MovePrimary{Database: "test", To: to})
	return nil
}

func (r *Rig) refresh(l Line) error {
	set := l.Word(0)
	r.Request(r.Operator(), func(t env.Task) {
		req := &command.FlushRoutingTableCacheUpdates{NS: Sharded}
		_, err := rpc.CallPrimary[command.Flushed](t, r.Operator().Sets[set], req, time.Minute)
		r.answer("refresh of "+set, err)
	})
	return nil
}

func (r *Rig) cleanup(l Line) error {
	set, what := r.Operator().Sets[l.Word(0)], "cleanupOrphaned on "+l.Word(0)
	req := &command.CleanupOrphaned{NS: Sharded, From: Bound(l.Arg("from", "min"))}
	r.Request(r.Operator(), func(t env.Task) {
		done, err := rpc.CallPrimary[command.CleanedUp](t, set, req, time.Minute)
		if err == nil && done.StoppedAt != "" {
			r.Say("%s: ok, stopped at %v", what, done.StoppedAt)
			return
		}
		r.answer(what, err)
	})
	return nil
}

// redeliver sends a request once more, as if it had been on its way all the time.
func (r *Rig) redeliver(l Line) error {
	kind := l.Word(0)
	old, err := r.recorded(kind, int(l.Number("nth", 1)))
	if err != nil {
		return err
	}
	set, _, _ := strings.Cut(string(old.to), ".")
	to := r.Primary(set)
	r.Request(r.Operator(), func(t env.Task) {
		clock := r.Operator().Endpoint.Clock().Now()
		m, err := t.Call(to, &rpc.Envelope{Clock: clock, Body: old.body}, time.Minute)
		answer := "done"
		if err != nil {
			answer = err.Error()
		} else if e := m.(*rpc.Envelope); e.Err != nil {
			answer = e.Err.Error()
		}
		r.Say("%s is late, and %s answers: %s", kind, to, answer)
	})
	return nil
}
