package crud

import (
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/wire/cursor"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

const (
	// firstBatch is the most documents in the first batch, unless the client says otherwise.
	firstBatch = 101
	// pageSize is how many documents a command that reads all of them fetches at a time.
	pageSize = 1000
)

// scan is a source: the documents of a query as the router merges them.
type scan struct {
	s    *Service
	find *command.Find
	id   string
	open bool
	skip int
	// left is how many documents may still be returned; negative: any number.
	left int
	show *query.Projection
}

// Next fetches until a document passes.
func (c *scan) Next(t env.Task, n int, _ time.Duration) ([]bson.Raw, bool, error) {
	if n == 0 {
		n = pageSize
	}
	for {
		docs, err := c.fetch(t, n)
		if err != nil {
			return nil, false, err
		}
		skipped := min(c.skip, len(docs))
		docs, c.skip = docs[skipped:], c.skip-skipped
		if c.left >= 0 {
			docs = docs[:min(c.left, len(docs))]
			c.left -= len(docs)
		}
		if docs, err = project(docs, c.show); err != nil {
			return nil, false, err
		}
		if c.left == 0 {
			c.Close(t)
		}
		if more := c.id != ""; len(docs) > 0 || !more {
			return docs, more, nil
		}
	}
}

func (c *scan) fetch(t env.Task, n int) ([]bson.Raw, error) {
	var req env.Message = &command.GetMore{Cursor: c.id, BatchSize: n}
	if !c.open {
		c.open = true
		find := *c.find
		find.BatchSize = n
		req = &find
	}
	batch, err := deployment.Ask[command.Batch](t, c.s.d, req)
	if errcode.Is(err, errcode.NamespaceNotFound) {
		return nil, nil
	}
	if err != nil {
		c.id = ""
		return nil, err
	}
	c.id = batch.Cursor
	return batch.Docs, nil
}

// Close makes the router discard the query.
func (c *scan) Close(t env.Task) {
	if c.id == "" {
		return
	}
	req := &command.KillCursors{Cursors: []string{c.id}}
	c.id = ""
	t.Spawn("wire.killCursors", func(own env.Task) {
		// An answer is not needed: the cursor times out on the router.
		_, _ = deployment.Ask[command.Done](own, c.s.d, req)
	})
}

func project(docs []bson.Raw, show *query.Projection) ([]bson.Raw, error) {
	if show == nil {
		return docs, nil
	}
	shown := make([]bson.Raw, len(docs))
	for i, doc := range docs {
		var err error
		if shown[i], err = show.Apply(doc); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

func sortBy(docs []bson.Raw, order query.Order) {
	if len(order) > 0 {
		slices.SortStableFunc(docs, order.Compare)
	}
}

// collect reads all documents that match.
func (s *Service) collect(t env.Task, find *command.Find) ([]bson.Raw, error) {
	if catalog.DatabaseOf(find.NS) == "config" {
		return s.catalogDocuments(t, find)
	}
	source := &scan{s: s, find: find, left: -1}
	var all []bson.Raw
	for {
		docs, more, err := source.Next(t, pageSize, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, docs...)
		if !more {
			return all, nil
		}
	}
}

// catalogDocuments are documents of the database config, which the config server keeps.
func (s *Service) catalogDocuments(t env.Task, find *command.Find) ([]bson.Raw, error) {
	docs, err := s.d.Catalog(t, find.NS)
	if err != nil {
		return nil, err
	}
	var failed error
	docs = slices.DeleteFunc(slices.Clone(docs), func(doc bson.Raw) bool {
		ok, err := query.Match(find.Filter, doc)
		failed = errors.Join(failed, err)
		return !ok
	})
	return docs, failed
}

// page is the part of a result that a command asks for.
type page struct {
	skip, limit int
	single      bool
	batch       int
	order       query.Order
	show        *query.Projection
}

func parsePage(r *request.Request) (p page, err error) {
	var skip, limit, batch int64
	if skip, err = r.Int("skip", 0); err != nil {
		return p, err
	}
	if limit, err = r.Int("limit", 0); err != nil {
		return p, err
	}
	if batch, err = r.Int("batchSize", firstBatch); err != nil {
		return p, err
	}
	if skip < 0 {
		return p, errcode.New(errcode.BadValue, "skip must not be negative, as %d is", skip)
	}
	if err := notNegative(batch); err != nil {
		return p, err
	}
	p = page{skip: int(skip), limit: int(max(limit, -limit)), batch: int(batch)}
	p.single = limit < 0 || r.Bool("singleBatch", false)
	sort, err := r.Document("sort")
	if err != nil {
		return p, err
	}
	if p.order, err = query.ParseOrder(sort); err != nil {
		return p, err
	}
	fields, err := r.Document("projection")
	if err != nil {
		return p, err
	}
	p.show, err = query.ParseProjection(fields)
	return p, err
}

// notNegative refuses a batchSize that would be taken for another one.
func notNegative(batchSize int64) error {
	if batchSize >= 0 {
		return nil
	}
	return errcode.New(errcode.BadValue, "batchSize must not be negative, as %d is", batchSize)
}

// source is where the documents of a page come from.
func (s *Service) source(t env.Task, find *command.Find, p page) (cursor.Source, error) {
	if len(p.order) == 0 && catalog.DatabaseOf(find.NS) != "config" {
		left := -1
		if p.limit > 0 {
			left = p.limit
		}
		return &scan{s: s, find: find, skip: p.skip, left: left, show: p.show}, nil
	}
	docs, err := s.collect(t, find)
	if err != nil {
		return nil, err
	}
	sortBy(docs, p.order)
	docs = docs[min(p.skip, len(docs)):]
	if p.limit > 0 {
		docs = docs[:min(p.limit, len(docs))]
	}
	docs, err = project(docs, p.show)
	return cursor.List(docs), err
}

func (s *Service) find(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	if r.Has("min") || r.Has("max") {
		return nil, errcode.New(reply.CommandNotSupported,
			"min and max are bounds of an index, and no index has an effect on queries")
	}
	find, err := s.readOptions(r, ns)
	if err != nil {
		return nil, err
	}
	vars, err := variables(r)
	if err != nil {
		return nil, err
	}
	if find.Filter, err = filterOf(r.Body, "filter", vars); err != nil {
		return nil, err
	}
	p, err := parsePage(r)
	if err != nil {
		return nil, err
	}
	source, err := s.source(t, find, p)
	if err != nil {
		return nil, err
	}
	return s.first(t, openAt(ns, source, find.At), p.batch, p.single)
}

// first answers with the first batch of a new cursor; a batch of zero only opens it.
func (s *Service) first(t env.Task, c *cursor.Cursor, size int, single bool) (bson.D, error) {
	docs := []bson.Raw{}
	if size > 0 {
		var err error
		if docs, err = c.Batch(t, size, 0); err != nil {
			return nil, err
		}
	}
	if single {
		c.Close(t)
	}
	return batchReply("firstBatch", docs, s.cursors.Keep(t, c), c), nil
}

// openAt is a cursor that tells its clients the time of the snapshot that it reads, if it reads
// one.
func openAt(ns string, source cursor.Source, at hlc.Timestamp) *cursor.Cursor {
	c := cursor.Open(ns, source)
	if at != 0 {
		c.At = catalog.TimestampBSON(at)
	}
	return c
}

func batchReply(name string, docs []bson.Raw, id int64, c *cursor.Cursor) bson.D {
	batch := make(bson.A, len(docs))
	for i, doc := range docs {
		batch[i] = doc
	}
	fields := bson.D{{Key: name, Value: batch}}
	if mark := c.Mark(); mark != nil {
		fields = append(fields, bson.E{Key: "postBatchResumeToken", Value: mark})
	}
	if c.At != (bson.Timestamp{}) {
		fields = append(fields, bson.E{Key: "atClusterTime", Value: c.At})
	}
	fields = append(fields, bson.E{Key: "id", Value: id}, bson.E{Key: "ns", Value: c.NS})
	return reply.Result(bson.E{Key: "cursor", Value: fields})
}

func (s *Service) getMore(t env.Task, r *request.Request) (bson.D, error) {
	id, err := r.Int("getMore", 0)
	if err != nil {
		return nil, err
	}
	size, err := r.Int("batchSize", 0)
	if err == nil {
		err = notNegative(size)
	}
	if err != nil {
		return nil, err
	}
	const patience = 1000
	wait, err := r.Int("maxTimeMS", patience)
	if err != nil {
		return nil, err
	}
	c, err := s.cursors.Take(id)
	if err != nil {
		return nil, err
	}
	docs, err := c.Batch(t, int(size), time.Duration(wait)*time.Millisecond)
	next, killed := s.cursors.Return(t, id, c)
	if killed {
		return nil, errcode.New(reply.CursorKilled, "cursor id %d was killed by a client", id)
	}
	if err != nil {
		return nil, err
	}
	return batchReply("nextBatch", docs, next, c), nil
}

func (s *Service) killCursors(t env.Task, r *request.Request) (bson.D, error) {
	array, ok := r.Value("cursors").ArrayOK()
	ids, err := array.Values()
	if !ok || err != nil {
		return nil, errcode.New(reply.TypeMismatch, "cursors must be an array of cursor ids")
	}
	killed, missing := bson.A{}, bson.A{}
	for _, v := range ids {
		id, _ := v.AsInt64OK()
		if s.cursors.Kill(t, id) {
			killed = append(killed, id)
		} else {
			missing = append(missing, id)
		}
	}
	return reply.Result(
		bson.E{Key: "cursorsKilled", Value: killed},
		bson.E{Key: "cursorsNotFound", Value: missing},
		bson.E{Key: "cursorsAlive", Value: bson.A{}},
		bson.E{Key: "cursorsUnknown", Value: bson.A{}},
	), nil
}
