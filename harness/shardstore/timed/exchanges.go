package timed

import (
	"reflect"
	"strings"

	"github.com/shardproof/shardproof/checkers/waits"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
)

// answer is what has been said to a request, or with which code it was refused.
type answer struct {
	body    env.Message
	refused errcode.Code
}

func answerOf(x *env.Exchange) *answer {
	said, _ := x.Reply.(*rpc.Envelope)
	switch {
	case x.Err != nil:
		return &answer{refused: errcode.Of(x.Err)}
	case said == nil:
		return &answer{}
	case said.Err != nil:
		return &answer{refused: said.Err.Code}
	}
	return &answer{body: said.Body}
}

// Arrived takes a request that has just arrived at its server.
func (c *Cluster) Arrived(x *env.Exchange) {
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok || strings.HasPrefix(string(x.To), "router") {
		return
	}
	if answered := c.arrived(x, asked.Body); answered != nil {
		c.number++
		x.Mark.Number = c.number
		c.open[c.number] = answered
	}
}

// arrived has the judges notice a request; the result, if any, is to be called with its answer.
func (c *Cluster) arrived(x *env.Exchange, asked env.Message) func(*answer) {
	to := string(x.To)
	switch req := asked.(type) {
	case *command.ShardsvrMoveRange:
		c.waits.Requested(req.NS, req.ChunkBytes, req.ForceJumbo == command.ForceManual)
	case *command.TransferMods:
		answered := c.waits.Pulled(to)
		return func(*answer) { answered() }
	case *command.RecvChunkCommit:
		answered := c.waits.CommitAsked(to, int64(x.Began))
		return func(*answer) { answered() }
	case *command.GetMore:
		answered := c.waits.CursorAsked(to, req.Cursor)
		return func(a *answer) {
			batch, given := a.body.(*command.Batch)
			answered(given, given && batch.Cursor != "")
		}
	}
	return nil
}

// Served takes a request that its server has just answered, whether the answer arrives or not.
func (c *Cluster) Served(x *env.Exchange, at env.Time) {
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok || strings.HasPrefix(string(x.To), "router") {
		return
	}
	a := answerOf(x)
	if answered := c.open[x.Mark.Number]; answered != nil {
		answered(a)
		delete(c.open, x.Mark.Number)
	}
	switch req := asked.Body.(type) {
	case *command.MigrateClone:
		if mods, given := a.body.(*command.Mods); given && len(mods.Reloads) > 0 {
			c.waits.Gave(string(x.To))
		}
	case *command.Find:
		if batch, given := a.body.(*command.Batch); given && batch.Cursor != "" {
			c.waits.CursorOpened(string(x.To), batch.Cursor)
		}
		if req.After == 0 && req.At == 0 {
			c.refused(x, a, at)
		}
	default:
		c.written(x, a, at)
	}
}

// written has the judges notice the answer to a request to write one document.
func (c *Cluster) written(x *env.Exchange, a *answer, at env.Time) {
	var concern command.WriteConcern
	var session command.Session
	switch req := x.Request.(*rpc.Envelope).Body.(type) {
	case *command.Insert:
		if len(req.Docs) != 1 {
			return
		}
		concern, session = req.Concern, req.Session
	case *command.Update:
		concern, session = req.Concern, req.Session
	case *command.Delete:
		concern, session = req.Concern, req.Session
	case *command.FindAndModify:
		concern, session = req.Concern, req.Session
	default:
		return
	}
	switch {
	case x.Wrote > 0:
		c.waits.Wrote(string(x.To), nameOf(x), x.Wrote, concern.Timeout)
	case session.ID == "":
		c.refused(x, a, at)
	}
}

// refused has the judges notice the refusal of a request that waits neither for a session nor for
// a cluster time.
func (c *Cluster) refused(x *env.Exchange, a *answer, at env.Time) {
	if a.refused == "" {
		return
	}
	body := reflect.ValueOf(x.Request.(*rpc.Envelope).Body).Elem()
	if !body.FieldByName("Place").Interface().(command.Placement).Versioned {
		return
	}
	c.waits.Refused(waits.Refusal{
		Node: string(x.To), Peer: string(x.From), NS: body.FieldByName("NS").String(),
		Request: nameOf(x), Code: string(a.refused), Arrived: int64(x.Began),
	}, int64(at))
}

func nameOf(x *env.Exchange) string {
	return reflect.TypeOf(x.Request.(*rpc.Envelope).Body).Elem().Name()
}
