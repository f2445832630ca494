package protocoltest

import (
	"errors"
	"maps"
)

// addVerbs is the language of scripts for whole clusters, beside the verbs of every stage.
func (r *Rig) addVerbs() {
	maps.Copy(r.Verbs, r.clusterVerbs())
	maps.Copy(r.Requests, r.dataRequests())
	maps.Copy(r.Requests, r.migrationRequests())
	maps.Copy(r.Requests, r.collectionRequests())
	maps.Copy(r.Requests, r.administrationRequests())
	maps.Copy(r.Requests, r.balancerRequests())
}

// clusterVerbs make the cluster, and show what it is like.
func (r *Rig) clusterVerbs() Verbs {
	return Verbs{
		// cluster bounds=(10,20) docs=12: three members in each of two shards (shards=3), chunk i
		// on shard i mod 2. With unsharded, a third of the documents is in the sharded collection
		// and a third in each of two that are not. set=(name:value,...) changes settings.
		// protocol=4.2: the older one. on=(shard-a): all chunks are there. balancer: it is on.
		// yields=50ms: who lets others run does so each time, for up to so long.
		"cluster": r.assemble,
		// trace donor recipient section decision deletion election placement primary: which events
		// are shown from now on; at the start all of them but applied, executed and
		// rollback.
		"trace": r.trace,
		// note NAME: remembers the cluster time of what a client was last answered, for scan.
		"note": func(l Line) error { r.times[l.Word(0)] = r.times["last"]; return nil },
		// recreate shard-a: drops test.plain there and makes it again, without telling anybody.
		"recreate": r.recreate,
		// chunks: the catalog; records: what the shards have on record of migrations; outstanding:
		// what keeps the cluster from being quiescent; changelog: what the config server has
		// recorded, without times; actions: what the balancer has.
		"chunks":      r.showChunks,
		"records":     r.showRecords,
		"outstanding": r.showOutstanding,
		"changelog":   r.showChangelog,
		"actions":     r.showActions,
		// administration: the shards and the zones as the catalog has them; owners test.later
		// [count]: who owns which chunk, or how many there are.
		"administration": r.showAdministration,
		"owners":         r.showOwners,
		// quiesce: every fault ends; waits until nothing is outstanding; shows who owns and holds
		// what.
		"quiesce": func(Line) error { return errors.Join(r.Quiesce(), r.AllHappened()) },
	}
}

// dataRequests are what applications send.
func (r *Rig) dataRequests() Verbs {
	return Verbs{
		// write 1 2 v=x: upserts through a router, each document by a client of its own; delete 1
		// 2.
		"write":  r.write,
		"delete": r.remove,
		// fill 100 119 v=x: one client writes all of these documents, one after the other.
		"fill": r.fill,
		// statement 1 txn=1 stmt=0 session=s v=x in=test.plain: a findAndModify; the same session,
		// transaction and statement again is a retry. With implicit=yes it makes an unsharded
		// collection that there is not, as drivers have it. Documents of other collections than
		// test.docs are found by _id, with by=k by k.
		"statement": r.statement,
		// sessions 65 in=test.plain: so many sessions execute a statement each, on document 1.
		"sessions": r.sessions,
		// direct shard-a 15 v=x: an update that asks the shard itself, without a version.
		"direct": r.writeDirectly,
		// scan batch=4 concern=majority at=NAME secondary min=5 max=20 in=test.plain: reads through
		// a router, everything or a range. times=8: that often, and shows the last; then all that
		// can be asked have been asked.
		"scan": r.scan,
		// watch NAME [after=TOKEN] [in=test.plain]: opens a change stream, from now on or behind a
		// token.
		"watch": r.watch,
		// read NAME [for=200ms] [token=TOKEN]: asks a stream for changes for a while, and keeps
		// where it is.
		"read": r.read,
	}
}

// migrationRequests move ranges and what is left of them.
func (r *Rig) migrationRequests() Verbs {
	return Verbs{
		// move 10 20 to=shard-b: asks the config server; donor=shard-a asks that shard itself;
		// wait, throttle=2, force=manual, bytes=400: the size of a chunk; patience=8h: waits longer
		// for the answer; in=test.later: of that collection. A bound that is open, the donor
		// chooses. move find=15: the chunk with the key.
		"move": r.move,
		// moveprimary to=shard-b
		"moveprimary": r.movePrimary,
		// cleanup shard-a: cleanupOrphaned, which waits for deletions; in 4.2 it deletes the next
		// orphans, from=10 on.
		"cleanup": r.cleanup,
		// refresh shard-a: the primary reads the catalog, as if a router had named a newer version.
		"refresh": r.refresh,
		// raise 0 10: the config server raises the version of a chunk, as it does for a donor's
		// successor who fences the donor.
		"raise": r.raise,
		// redeliver KIND [nth=2]: the nth message of the kind that was ever sent arrives, once more
		// or after it was lost, at who is primary there now.
		"redeliver": r.redeliver,
		// sent KIND: how many messages of the kind were ever sent.
		"sent": r.showSent,
	}
}

// collectionRequests change collections and their chunks.
func (r *Rig) collectionRequests() Verbs {
	return Verbs{
		// drop: the sharded collection; create on=shard-b: again, on one shard; rename test.papers
		// [over]: it has that name from then on, in the place of another, and with from=test.papers
		// the one that has that name now. With in=test.plain, that unsharded one is dropped, renamed
		// or gets the index.
		"drop": r.drop, "create": r.create, "rename": r.rename,
		// index f [hashed]: makes one on the field; unindex f: drops it; indexes: what each shard has.
		"index": r.createIndex, "unindex": r.dropIndex, "indexes": r.showIndexes,
		// shard test.later key=k hashed bounds=(0,10) shards=(shard-a) initial=4: shardCollection.
		"shard": r.shardCollection,
		// split 15: the chunk with the key, there; merge 0 10: the chunks that make up the range;
		// mergeall shard-a: all chunks of the shard that may be one.
		"split": r.split, "merge": r.merge, "mergeall": r.mergeAll,
		// points shard-a 0 10 bytes=400 limit=1: where the shard would split the range
		// (autoSplitVector).
		"points": r.splitPoints,
		// sizes: how much data each shard says that it has of test.docs.
		"sizes": r.sizes,
	}
}
