package linearize

import "github.com/shardproof/shardproof/histories/keyed"

// identities finds the number of a text among the names of a key: a table of hashes with open
// addressing. A history of ten million writes has as many names, and a map would hold each of them
// a second time.
type identities struct {
	slots []identity
	used  int
}

// identity is the name ID of the key at a position; Absent marks a free slot.
type identity struct {
	hash uint32
	key  int32
	id   ID
}

// find returns where the number of the text is; Absent there means that it has none, and is to be
// replaced by its number in keys[key].Names.
func (t *identities) find(keys []Key, key int32, text string) *ID {
	if 4*t.used >= 3*len(t.slots) {
		t.grow()
	}
	hash := uint32(keyed.Mix(keyed.Text(uint64(key)^keyed.Basis, text)))
	for at := t.first(hash); ; at = (at + 1) % len(t.slots) {
		s := &t.slots[at]
		if s.id == Absent {
			t.used++
			s.hash, s.key = hash, key
			return &s.id
		}
		if s.hash == hash && s.key == key && keys[key].Names[s.id] == text {
			return &s.id
		}
	}
}

// first is the slot at which a hash is looked for.
func (t *identities) first(hash uint32) int { return int(hash) & (len(t.slots) - 1) }

func (t *identities) grow() {
	old := t.slots
	t.slots = make([]identity, max(64, 2*len(old)))
	for _, s := range old {
		if s.id == Absent {
			continue
		}
		at := t.first(s.hash)
		for t.slots[at].id != Absent {
			at = (at + 1) % len(t.slots)
		}
		t.slots[at] = s
	}
}
