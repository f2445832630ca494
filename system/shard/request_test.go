package shard

import (
	"fmt"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

func (s *script) request(d *datadriven.TestData) env.Message {
	place := command.Placement{
		Versioned: !has(d, "unversioned"),
		Shard:     s.router.ShardVersion("shard-a"),
	}
	unsharded := command.Placement{Database: true}
	session := command.Session{
		ID:   str(d, "session"),
		Txn:  num(d, "txn"),
		Stmt: int32(num(d, "stmt")),
	}
	wc := command.WriteConcern{Majority: has(d, "majority")}
	switch d.Cmd {
	case "insert":
		var docs []bson.Raw
		for _, arg := range d.CmdArgs {
			if arg.Key == "k" {
				docs = append(docs, testDoc(whole(arg.Vals[0]), str(d, "v")))
			}
		}
		return &command.Insert{NS: testNS, Docs: docs, Session: session, Concern: wc, Place: place}
	case "update":
		return &command.Update{NS: testNS,
			Filter:  s.filter(d),
			Change:  s.changeOf(d),
			Upsert:  has(d, "upsert"),
			Session: session,
			Concern: wc,
			Place:   place}
	case "delete":
		return &command.Delete{
			NS:      testNS,
			Filter:  s.filter(d),
			Session: session,
			Concern: wc,
			Place:   place,
		}
	case "create":
		return &command.CreateUnsharded{NS: testNS, Concern: wc, Place: unsharded}
	case "drop":
		return &command.DropUnsharded{NS: testNS, Concern: wc, Place: unsharded}
	case "index":
		req := &command.IndexUnsharded{
			NS: testNS, Name: str(d, "name"), Concern: wc, Place: unsharded,
		}
		if has(d, "make") {
			req.Spec = must(bson.Marshal(bson.D{{Key: "key", Value: bson.D{{Key: "v", Value: 1}}}}))
		}
		return req
	case "modify":
		return &command.FindAndModify{NS: testNS,
			Filter:  s.filter(d),
			Change:  s.changeOf(d),
			Remove:  has(d, "remove"),
			New:     has(d, "new"),
			Upsert:  has(d, "upsert"),
			Session: session,
			Concern: wc,
			Place:   place}
	}
	return s.query(d, place)
}

func (s *script) query(d *datadriven.TestData, place command.Placement) env.Message {
	switch d.Cmd {
	case "find":
		rc := command.ReadConcern(str(d, "concern"))
		f := &command.Find{
			NS:        testNS,
			Filter:    s.filter(d),
			BatchSize: int(num(d, "batch")),
			Concern:   rc,
			Place:     place,
		}
		if f.Secondary = has(d, "secondary"); has(d, "after") {
			f.After = s.noted
		}
		if rc == command.Snapshot {
			f.At = s.noted
		}
		return f
	case "more":
		return &command.GetMore{
			Cursor:    str(d, "cursor"),
			BatchSize: int(num(d, "batch")),
			Number:    int(num(d, "number")),
		}
	case "kill":
		return &command.KillCursors{Cursors: []string{str(d, "cursor")}}
	case "flush":
		return &command.FlushRoutingTableCacheUpdates{NS: testNS}
	case "stepdown":
		return &command.StepDown{}
	case "datasize":
		return &command.DataSize{NS: testNS, Ranges: []key.Range{
			{Min: key.Int(num(d, "from")), Max: key.Int(num(d, "below"))}, key.Everything,
		}}
	case "audit":
		return &command.Audit{NS: testNS}
	}
	return nil
}

func (s *script) filter(d *datadriven.TestData) bson.Raw {
	f := bson.D{}
	if has(d, "k") {
		f = append(f, bson.E{Key: "k", Value: num(d, "k")})
	}
	if has(d, "from") {
		f = append(f, bson.E{
			Key: "k",
			Value: bson.D{
				{Key: "$gte", Value: num(d, "from")},
				{Key: "$lt", Value: num(d, "below")},
			},
		})
	}
	if has(d, "was") {
		f = append(f, bson.E{Key: "v", Value: str(d, "was")})
	}
	if has(d, "upsert") {
		f = append(f, bson.E{Key: "_id", Value: num(d, "k")})
	}
	return must(bson.Marshal(f))
}

func (s *script) changeOf(d *datadriven.TestData) bson.Raw {
	if has(d, "remove") {
		return nil
	}
	set := bson.D{{Key: "v", Value: str(d, "v")}}
	if has(d, "newkey") {
		set = append(set, bson.E{Key: "k", Value: num(d, "newkey")})
	}
	return must(bson.Marshal(bson.D{{Key: "$set", Value: set}}))
}

func (s *script) send(t env.Task, to env.NodeID, req env.Message) string {
	switch req.(type) {
	case *command.Find, *command.GetMore:
		b, err := send[command.Batch](t, s.cluster, to, req)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%v cursor=%q", values(b.Docs), b.Cursor)
	case *command.FlushRoutingTableCacheUpdates:
		if _, err := send[command.Flushed](t, s.cluster, to, req); err != nil {
			return err.Error()
		}
		return "done"
	case *command.KillCursors, *command.StepDown:
		if _, err := send[command.Done](t, s.cluster, to, req); err != nil {
			return err.Error()
		}
		return "done"
	}
	if _, ok := req.(*command.DataSize); ok {
		return fmt.Sprint(must(send[command.DataSizes](t, s.cluster, to, req)).Bytes)
	}
	if _, ok := req.(*command.Audit); ok {
		a := must(send[command.AuditReply](t, s.cluster, to, req))
		return fmt.Sprintf("%s of %s, writable %t, %v, version %s, owned %v, critical sections "+
			"%q, cursors %d",
			a.Node, a.Shard, a.Writable, values(a.Documents), a.Version, a.Owned,
			a.CriticalSections, a.OpenCursors)
	}
	w, err := send[command.Written](t, s.cluster, to, req)
	if err != nil {
		return err.Error()
	}
	return written(w)
}

func written(w *command.Written) string {
	text := fmt.Sprintf("n=%d modified=%d", w.N, w.Modified)
	if w.Upserted {
		text += " upserted"
	}
	if w.Image != nil {
		text += " image=" + values([]bson.Raw{w.Image})[0]
	}
	if w.Retried {
		text += " retried"
	}
	return text + w.ConcernError
}

func values(docs []bson.Raw) []string {
	texts := []string{}
	for _, d := range docs {
		texts = append(texts,
			fmt.Sprintf("%d:%s", d.Lookup("k").Int64(), d.Lookup("v").StringValue()))
	}
	return texts
}
