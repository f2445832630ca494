package workloads

// class is what a key is used for: the remainder of the key by classes. Operations of different
// classes never meet on one key, because some mixes (blind upserts with deletes) cannot be judged
// completely from outside.
type class int64

const (
	registerKeys class = iota // read, write, cas
	lifeKeys                  // read, insert, delete
	listKeys                  // read, push
	upsertKeys                // read, upsert
	updateKeys                // read, update
	classes
)

// key chooses a key of the class. Too few keys for the class leave the last key, even if it is of
// another class: a collection should have at least as many keys as there are classes.
func (p *plan) key(c class) int64 { return p.keyBelow(c, p.Keys) }

// presentKey chooses among the preloaded keys, for operations that do nothing to a document which
// is not there.
func (p *plan) presentKey(c class) int64 {
	if p.Preload <= int(c) {
		return p.key(c)
	}
	return p.keyBelow(c, p.Preload)
}

func (p *plan) keyBelow(c class, end int) int64 {
	count := (end - int(c) + int(classes) - 1) / int(classes)
	if count <= 0 {
		return int64(end - 1)
	}
	if p.chance("hot", p.Hot) {
		return int64(c)
	}
	return int64(p.pick("key", count))*int64(classes) + int64(c)
}
