package linearize

import "github.com/shardproof/shardproof/checkers/compact"

// identities finds the number of a text among the names of a key. Nearly every text is that of one
// key, which a list by text says; what other keys call it is in a map.
type identities struct {
	owners []identity
	others map[otherName]*ID
}

// identity is the name ID of a key; Absent when no key has the text yet.
type identity struct {
	key int32
	id  ID
}

type otherName struct {
	key  int32
	text compact.Text
}

// find returns where the number of the text is; Absent there means that it has none, and is to be
// replaced by its number in Key.Names.
func (t *identities) find(key int32, text compact.Text) *ID {
	owner := &t.owners[text]
	if owner.id == Absent {
		owner.key = key
	}
	if owner.key == key {
		return &owner.id
	}
	name := otherName{key, text}
	id := t.others[name]
	if id == nil {
		if t.others == nil {
			t.others = map[otherName]*ID{}
		}
		id = new(ID)
		t.others[name] = id
	}
	return id
}
