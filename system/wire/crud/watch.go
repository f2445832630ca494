package crud

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/pipeline"
	"github.com/shardproof/shardproof/system/wire/cursor"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// pollEvery is how long a stream without news waits before it asks again.
const pollEvery = 10 * time.Millisecond

// stream is a source: the changes of a collection.
type stream struct {
	s      *Service
	ns     string
	id     string
	mark   command.Token
	lookup bool
	// uuid is the identity of the collection, if documents are looked up.
	uuid   string
	stages []bson.Raw
	ended  bool
	closed bool
}

// watch opens a change stream.
func (s *Service) watch(
	t env.Task, r *request.Request, stages []bson.Raw, size int,
) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, errcode.New(reply.CommandNotSupported,
			"change streams on a whole database or cluster are not supported")
	}
	options, err := request.Document(stages[0], "$changeStream")
	if err != nil {
		return nil, err
	}
	if request.Bool(options, "showExpandedEvents", false) {
		return nil, errcode.New(reply.CommandNotSupported, "expanded events are not supported")
	}
	req := &command.Watch{NS: ns, Unsharded: true}
	begins, err := resumeAfter(req, options)
	if err != nil {
		return nil, err
	}
	full, err := request.Text(options, "fullDocument", "default")
	if err != nil {
		return nil, err
	}
	if _, err := pipeline.Run(stages[1:], nil); err != nil {
		return nil, err
	}
	if begins {
		if _, err := s.d.Create(t, ns, nil, false); err != nil &&
			!errcode.Is(err, errcode.IllegalOperation) {
			return nil, err
		}
	}
	c := &stream{s: s, ns: ns, lookup: full == "updateLookup", stages: stages[1:]}
	if err := c.open(t, req); err != nil {
		return nil, labelled(err)
	}
	return s.first(t, cursor.Open(ns, c), size, false)
}

// resumeAfter reads where the stream is to begin. It begins something new unless a token says that
// it goes on: then the collection is there or has an end that is still to be told, and is not made
// again.
func resumeAfter(req *command.Watch, options bson.Raw) (begins bool, err error) {
	begins = true
	for _, name := range []string{"resumeAfter", "startAfter"} {
		token, err := request.Document(options, name)
		if err != nil {
			return false, err
		}
		if token == nil {
			continue
		}
		req.Resume = true
		var over bool
		if req.After, over, err = parseToken(token); err != nil {
			return false, err
		}
		if over && name == "resumeAfter" {
			return false, errcode.New(reply.InvalidResumeToken,
				"nothing of the stream is left after the invalidate event of %v: "+
					"use startAfter for what has the name since", token)
		}
		begins = over
	}
	if at := timeOf(options, "startAtOperationTime"); at > 0 {
		req.Resume, req.After = true, command.Mark(at-1)
	}
	return begins, nil
}

// open opens the stream, and notes which collection it is of if documents will be looked up.
func (c *stream) open(t env.Task, req *command.Watch) (err error) {
	if c.lookup {
		if c.uuid, err = c.s.d.Identity(t, c.ns); err != nil {
			return err
		}
	}
	batch, err := deployment.Ask[command.ChangeBatch](t, c.s.d, req)
	if err != nil {
		return err
	}
	c.id, c.mark = batch.Stream, batch.Upto
	if !c.lookup {
		return nil
	}
	now, err := c.s.d.Identity(t, c.ns)
	if err == nil && now != c.uuid {
		err = errcode.New(errcode.StaleEpoch,
			"another collection got the name %s while the change stream was opened", c.ns)
	}
	return err
}

// Mark is the place up to which the stream was read.
func (c *stream) Mark() bson.Raw { return tokenOf(c.mark, c.ended) }

// Next waits for changes that pass the stages, at most as long as it is told.
func (c *stream) Next(t env.Task, n int, wait time.Duration) ([]bson.Raw, bool, error) {
	for end := t.Node().Mono().Add(wait); ; {
		docs, err := c.poll(t, n)
		if err != nil {
			return nil, false, err
		}
		if len(docs) > 0 || c.ended || c.closed || t.Node().Mono().Add(pollEvery) > end {
			return docs, !c.ended, nil
		}
		if err := t.Sleep(pollEvery); err != nil {
			return nil, false, err
		}
	}
}

func (c *stream) poll(t env.Task, n int) ([]bson.Raw, error) {
	req := &command.NextChanges{Stream: c.id, BatchSize: n}
	batch, err := deployment.Ask[command.ChangeBatch](t, c.s.d, req)
	if err != nil {
		return nil, labelled(err)
	}
	c.id, c.mark = batch.Stream, batch.Upto
	c.ended = batch.Stream == ""
	newest, err := c.lookUp(t, batch.Changes)
	if err != nil {
		return nil, labelled(err)
	}
	var docs []bson.Raw
	for i := range batch.Changes {
		doc, err := c.event(&batch.Changes[i], newest[i])
		if err != nil {
			return nil, labelled(err)
		}
		docs = append(docs, doc)
	}
	docs, err = pipeline.Run(c.stages, docs)
	for _, doc := range docs {
		id, _ := doc.Lookup("_id").DocumentOK()
		if _, _, err := parseToken(id); err != nil {
			return nil, errcode.New(reply.ChangeStreamFatalError,
				"the stages took the resume token, which is the _id, out of an event: %v", doc)
		}
	}
	return docs, err
}

// labelled is the failure of a change stream, with the label ResumableChangeStreamError if drivers
// may resume after it.
func labelled(err error) error {
	f := reply.FailureOf(err)
	reply.LabelChangeStream(f)
	return f
}

// Close only ends the stream: the router keeps no more than its positions, which time out.
func (c *stream) Close(env.Task) { c.closed = true }

// event is what clients are told of a change; newest is the document that was looked up for it.
func (c *stream) event(ch *command.Change, newest any) (bson.Raw, error) {
	db, coll, _ := strings.Cut(c.ns, ".")
	event := bson.D{
		{Key: "_id", Value: tokenOf(ch.Token, ch.Kind == command.ChangeInvalidate)},
		{Key: "operationType", Value: string(ch.Kind)},
		{Key: "clusterTime", Value: catalog.TimestampBSON(ch.Token.TS)},
	}
	switch ch.Kind {
	case command.ChangeInsert, command.ChangeReplace:
		event = append(event, bson.E{Key: "fullDocument", Value: ch.Doc})
	case command.ChangeUpdate:
		event = append(event, bson.E{Key: "updateDescription", Value: description(ch.Doc)})
		if c.lookup {
			event = append(event, bson.E{Key: "fullDocument", Value: newest})
		}
	}
	if ch.Kind != command.ChangeInvalidate {
		event = append(event, bson.E{Key: "ns", Value: namespace(db, coll)})
	}
	if ch.Kind == command.ChangeRename {
		db, coll, _ := strings.Cut(ch.To, ".")
		event = append(event, bson.E{Key: "to", Value: namespace(db, coll)})
	}
	if id := identity(ch); id != nil {
		event = append(event, bson.E{Key: "documentKey", Value: id})
	}
	return bson.Marshal(event)
}

// identity is the document key: with a shard key the log has it as the document does. An _id alone
// is taken from the document, or else from the log, where all integers have one type.
func identity(ch *command.Change) any {
	if fields, err := ch.Key.Elements(); err == nil && len(fields) > 1 {
		return ch.Key
	}
	if v, err := ch.Doc.LookupErr("_id"); err == nil {
		return bson.D{{Key: "_id", Value: v}}
	}
	if ch.Key == nil {
		return nil
	}
	return ch.Key
}

func namespace(db, coll string) bson.D {
	return bson.D{{Key: "db", Value: db}, {Key: "coll", Value: coll}}
}

// description is the updateDescription of an update. It lists all fields of the document, since the
// log has the document after a change but not the one before.
func description(doc bson.Raw) bson.D {
	fields := bson.D{}
	elements, _ := doc.Elements()
	for _, e := range elements {
		if e.Key() != "_id" {
			fields = append(fields, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	return bson.D{
		{Key: "updatedFields", Value: fields}, {Key: "removedFields", Value: bson.A{}},
		{Key: "truncatedArrays", Value: bson.A{}},
	}
}

// lookUp finds the documents that updates have changed, nil for every other change. If another
// collection has got the name, nothing counts: it may have been found in that one.
func (c *stream) lookUp(t env.Task, changes []command.Change) (newest []any, err error) {
	newest = make([]any, len(changes))
	found := false
	for i := range changes {
		if !c.lookup || changes[i].Kind != command.ChangeUpdate {
			continue
		}
		if newest[i], err = c.newest(t, &changes[i]); err != nil {
			return nil, err
		}
		found = found || newest[i] != nil
	}
	if !found {
		return newest, nil
	}
	now, err := c.s.d.Identity(t, c.ns)
	if err == nil && now != c.uuid {
		clear(newest)
	}
	return newest, err
}

// newest is the document at the time of the change or later, nil when there is none.
func (c *stream) newest(t env.Task, ch *command.Change) (any, error) {
	find := &command.Find{
		NS: c.ns, Filter: ch.Key, Concern: command.MajorityRead, After: ch.Token.TS,
	}
	docs, err := c.s.collect(t, find)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0], nil
}

// invalidated is the end of a token that is the place of an invalidate event.
const invalidated = ".invalidate"

// tokenOf is a place as clients keep it: {_data: "time.shard.n"}, the time as 16 hexadecimal
// digits. It tells if the stream is over there.
func tokenOf(at command.Token, over bool) bson.Raw {
	data := fmt.Sprintf("%016x.%x.%d", uint64(at.TS), at.Shard, at.N)
	if over {
		data += invalidated
	}
	doc, err := bson.Marshal(bson.D{{Key: "_data", Value: data}})
	if err != nil {
		panic(err) // a string always has a document
	}
	return doc
}

func parseToken(doc bson.Raw) (at command.Token, over bool, err error) {
	data, _ := doc.Lookup("_data").StringValueOK()
	data, over = strings.CutSuffix(data, invalidated)
	parts := strings.Split(data, ".")
	if len(parts) == 3 {
		var ts uint64
		var shard []byte
		if ts, err = strconv.ParseUint(parts[0], 16, 64); err == nil {
			if _, err = fmt.Sscanf(parts[1], "%x", &shard); err == nil || parts[1] == "" {
				at.TS, at.Shard = hlc.Timestamp(ts), string(shard)
				at.N, err = strconv.Atoi(parts[2])
			}
		}
	}
	if len(parts) != 3 || err != nil {
		return at, over, errcode.New(reply.InvalidResumeToken, "%v is no resume token", doc)
	}
	return at, over, nil
}
