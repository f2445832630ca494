package migration

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/store"
)

// nextMods hands over captured changes (protocol 6.2): both lists are taken at once, deletes go
// first, reloads only when all deletes fit, and documents are read after the lists were taken. What
// does not fit goes back to the front.
func (d *donorMigration) nextMods(t env.Task) (*command.Mods, error) {
	if err := t.Point(failpoint.DonorServeSplice, env.Note{ID: d.record.Migration}); err != nil {
		return nil, err
	}
	deletes, reloads := d.capture.splice()
	if len(deletes)+len(reloads) == 0 { // as for most requests, which only ask whether there is more
		return &command.Mods{}, nil
	}
	if err := t.Point(failpoint.DonorServeRead, env.Note{ID: d.record.Migration}); err != nil {
		d.capture.pushBack(deletes, reloads)
		return nil, err
	}
	b := modsBatch{room: d.s.settings.ModsBatchBytes}
	restDeletes := b.takeDeletes(deletes)
	restReloads := reloads
	if len(restDeletes) == 0 {
		restReloads = b.takeReloads(reloads, d.current)
	}
	if len(restDeletes)+len(restReloads) > 0 {
		err := t.Point(failpoint.DonorServePushback, env.Note{ID: d.record.Migration})
		if err != nil {
			d.capture.pushBack(deletes, reloads)
			return nil, err
		}
	}
	d.capture.pushBack(restDeletes, restReloads)
	b.mods.More = true
	return &b.mods, nil
}

// current reads a document as it is now; nil when it is gone or not in the range any more: then its
// deletion was, or will be, captured.
func (d *donorMigration) current(id string) bson.Raw {
	doc := d.s.member.Store().Get(d.record.NS, id, store.Latest)
	if !d.capture.covers(doc) {
		return nil
	}
	return doc
}

// modsBatch is an answer of changes being filled.
type modsBatch struct {
	mods command.Mods
	room int // in bytes
	size int
}

// reload adds a document; false means that it does not fit.
func (b *modsBatch) reload(doc bson.Raw) bool {
	if !b.fits(len(doc)) {
		return false
	}
	b.mods.Reloads = append(b.mods.Reloads, doc)
	return true
}

// fits reports whether n more bytes are allowed; something always is.
func (b *modsBatch) fits(n int) bool {
	if b.size > 0 && b.size+n > b.room {
		return false
	}
	b.size += n
	return true
}

// takeDeletes adds each identity once and returns what did not fit.
func (b *modsBatch) takeDeletes(ids []string) (rest []string) {
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		if seen[id] {
			continue
		}
		if !b.fits(len(id)) {
			return ids[i:]
		}
		seen[id] = true
		b.mods.Deletes = append(b.mods.Deletes, id)
	}
	return nil
}

// takeReloads adds the current document of each identity once and returns what did not fit.
func (b *modsBatch) takeReloads(ids []string, read func(id string) bson.Raw) (rest []string) {
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		doc := read(id)
		if doc == nil {
			continue
		}
		if !b.fits(len(doc)) {
			return ids[i:]
		}
		b.mods.Reloads = append(b.mods.Reloads, doc)
	}
	return nil
}
