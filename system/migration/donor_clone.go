package migration

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/statedoc"
	"github.com/shardproof/shardproof/system/store"
)

// cloneList is the list of documents that were in the range when the capture began, in the order of
// the shard key, and how far it was handed over. A chunk that is too big for a list is read along
// the shard key as it is at each request (protocol 6.6): the capture sees every change behind the
// place that was reached.
type cloneList struct {
	ids  []string
	next int

	live  bool
	place store.Place // live: the last document that was handed over
	ended bool        // live: there was none behind it

	documents, bytes int // that the scan has found
	given            int // documents that were handed over
	pulls            sequencedPulls[command.Mods]
}

func (c *cloneList) done() bool {
	if c.live {
		return c.ended
	}
	return c.next == len(c.ids)
}

// startClone is S3. The order matters: the capture begins before the scan, so that no write is in
// neither; the record and then the range deletion task are majority-committed before the recipient
// learns of the migration.
func (d *donorMigration) startClone(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorChangelogStart, func(t env.Task) error {
			d.s.shard.Statistics().DonorStarted++
			return d.s.logChange(t, "moveChunk.start", d.record.NS, d.details())
		}},
		step{failpoint.DonorAttachBefore, d.attach},
		step{failpoint.DonorRecordBefore, d.insertRecord},
		step{failpoint.DonorTaskBefore, d.insertTask},
		// attach has made them again.
		step{failpoint.DonorSessionInit, func(t env.Task) error { return d.sessions.init(t) }},
		step{failpoint.DonorScan, d.scan},
		step{failpoint.DonorSendStart, d.sendStart},
		step{failpoint.DonorAfterStart, func(env.Task) error { return nil }},
		step{failpoint.DonorFirstChunk, d.checkFirstChunk})
}

func (d *donorMigration) attach(t env.Task) error {
	if err := d.takePlacement(t); err != nil {
		// It may have changed while the changelog was written.
		return err
	}
	if err := d.collection.SetDonor(d.capture); err != nil {
		return err
	}
	d.become(donorCloning)
	return t.Point(failpoint.DonorAttachAfter, env.Note{ID: d.record.Migration})
}

// insertRecord writes the record, and in the same entry the announcement to change streams
// (protocol 12): it is majority-committed long before the recipient's first write as the owner, no
// failover separates the two, and as long as the record exists the migration is on the list of
// Receivers. Every migration is announced: whether its range is the recipient's first may change
// until the commit, and a stream that reads the recipient already ignores it.
func (d *donorMigration) insertRecord(t env.Task) error {
	d.written = true
	r := &d.record
	tell := changestream.Announcement(r.NS, r.Donor, r.Recipient)
	tell.Actor, tell.Tag = uint8(trace.Donor), r.Migration
	return d.insert(t, failpoint.DonorRecordLocal, failpoint.DonorRecordMajority,
		d.s.coordinators.Put(r.Migration, *r), tell)
}

func (d *donorMigration) insertTask(t env.Task) error {
	k := d.orphans()
	k.Pending = true
	return d.insert(t, failpoint.DonorTaskLocal, failpoint.DonorTaskMajority, d.s.ranges.Add(k))
}

// insert writes and waits for the majority, announcing both.
func (d *donorMigration) insert(t env.Task, local, majority failpoint.Site, ops ...oplog.Op) error {
	at, err := d.s.member.Write(t, ops...)
	if err != nil {
		return err
	}
	if err := t.Point(local, env.Note{ID: d.record.Migration}); err != nil {
		return err
	}
	if err := statedoc.AwaitMajority(t, d.s.member, at); err != nil {
		return err
	}
	return t.Point(majority, env.Note{ID: d.record.Migration})
}

// scan collects the identities of the documents in the range, letting others run in between: the
// capture sees everything that they write.
func (d *donorMigration) scan(t env.Task) error {
	var last store.Place
	for {
		full := len(d.clone.ids) + d.s.settings.CloneScanBatch
		if d.s.settings.CloneScanBatch == 0 {
			full = math.MaxInt
		}
		d.s.member.Store().ScanKey(d.record.NS, d.record.Range(), store.Latest, last,
			func(k key.Key, id string, doc bson.Raw) bool {
				last = store.Place{Key: k, ID: id}
				d.clone.ids = append(d.clone.ids, id)
				d.clone.bytes += len(doc)
				return len(d.clone.ids) < full
			})
		d.clone.documents = len(d.clone.ids)
		if len(d.clone.ids) < full {
			return d.checkSize()
		}
		if err := t.Yield(failpoint.DonorScan); err != nil {
			return err
		}
	}
}

// checkSize refuses chunks that are too big, unless they are to be moved by force: then without a
// list.
func (d *donorMigration) checkSize() error {
	limit := d.mostDocuments()
	if int64(d.clone.documents) <= limit {
		return nil
	}
	if d.req.ForceJumbo == command.RefuseJumbo || !d.s.profile.ForcesJumbo() {
		return errcode.New(errcode.ChunkTooBig,
			"range %v of %s has %d documents, more than the %d that %d bytes have room for",
			d.record.Range(), d.record.NS, d.clone.documents, limit, d.chunkBytes())
	}
	d.s.node.Sometimes("a chunk that is too big is moved by force")
	d.clone.ids, d.clone.live = nil, true
	return nil
}

// mostDocuments is how many documents of the average size, with some slack, a chunk may have
// (errata E9).
func (d *donorMigration) mostDocuments() int64 {
	have := d.s.shard.Extent(d.record.NS)
	if have.Documents == 0 {
		return mostWithoutAverage
	}
	full := max(1, d.chunkBytes()/max(1, have.Bytes/have.Documents))
	return full * int64(d.s.profile.JumboSlack()) / 100
}

// mostWithoutAverage is how many documents a chunk may have while there are none whose size is
// known.
const mostWithoutAverage = 250_001

func (d *donorMigration) sendStart(t env.Task) error {
	r := &d.record
	return d.s.tell(t, r.Recipient, &command.RecvChunkStart{
		Migration: r.Migration,
		Session:   r.Session,
		NS:        r.NS,
		Min:       key.Key(r.Min),
		Max:       key.Key(r.Max),
		From:      r.Donor,
		To:        r.Recipient,
		Lsid:      r.Lsid,
		Txn:       r.Txn,
		UUID:      r.UUID,
		Epoch:     d.epoch,
		Throttle:  d.req.Throttle,
	})
}

// checkFirstChunk notes whether the recipient is about to get its first chunk of the collection.
func (d *donorMigration) checkFirstChunk(env.Task) error {
	md := d.collection.Metadata()
	if md != nil && md.Table.ShardVersion(d.record.Recipient).OwnsNothing() {
		d.s.node.Sometimes("a shard receives its first chunk of a collection")
	}
	return nil
}

// nextClone hands over the next documents of the clone, as they are now; empty means the end
// (protocol 6.2).
func (d *donorMigration) nextClone(t env.Task) (*command.Mods, error) {
	if err := t.Point(
		failpoint.DonorServeClone, env.Note{ID: d.record.Migration, N: int(d.clone.pulls.number)},
	); err != nil {
		return nil, err
	}
	if err := d.live(); err != nil {
		return nil, err
	}
	b := modsBatch{room: d.s.settings.CloneBatchBytes}
	if d.clone.live {
		d.fillAlongKey(&b)
	} else {
		d.fillFromList(&b)
	}
	d.clone.given += len(b.mods.Reloads)
	n := d.s.shard.Statistics()
	n.DocsGiven += int64(len(b.mods.Reloads))
	n.BytesGiven += int64(b.size)
	return &b.mods, nil
}

func (d *donorMigration) fillFromList(b *modsBatch) {
	for c := d.clone; !c.done(); c.next++ {
		if doc := d.current(c.ids[c.next]); doc != nil && !b.reload(doc) {
			return
		}
	}
}

func (d *donorMigration) fillAlongKey(b *modsBatch) {
	c := d.clone
	c.ended = true
	d.s.member.Store().ScanKey(d.record.NS, d.record.Range(), store.Latest, c.place,
		func(k key.Key, id string, doc bson.Raw) bool {
			if !b.reload(doc) {
				c.ended = false
				return false
			}
			c.place = store.Place{Key: k, ID: id}
			return true
		})
}

// textDoc is the content of an entry that only people read.
func textDoc(what string) bson.Raw {
	doc, err := bson.Marshal(bson.D{{Key: "msg", Value: what}})
	if err != nil {
		panic(err)
	}
	return doc
}
