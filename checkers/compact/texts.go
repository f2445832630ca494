package compact

import (
	"encoding/binary"

	"github.com/shardproof/shardproof/histories/keyed"
)

// Text is a text of a history, by number; 0 is the empty one. Equal texts have equal numbers.
type Text uint32

// Texts are the texts of a history. A history of ten million writes has as many, so they stand in
// pages without a pointer to each, and the table that finds them holds numbers.
type Texts struct {
	pages [][]byte
	// places is where each text stands, but for the empty one, so many in a list: the page above,
	// the offset below.
	places [][]uint64
	count  int
	// slots are open addresses by hash.
	slots []slot
}

type slot struct {
	hash uint32
	text Text
}

const (
	pageSize     = 1 << 14
	placesOfList = 1 << 10
	offsetBits   = 32
)

// Len is above the number of every text.
func (t *Texts) Len() int { return t.count + 1 }

// Of is the number of a text.
func (t *Texts) Of(text string) Text {
	if text == "" {
		return 0
	}
	if 4*t.count >= 3*len(t.slots) {
		t.grow()
	}
	hash := hashOf(text)
	for at := t.first(hash); ; at = (at + 1) % len(t.slots) {
		switch s := &t.slots[at]; {
		case s.text == 0:
			t.keep(text)
			*s = slot{hash, Text(t.count)}
			return s.text
		case s.hash == hash && string(t.bytes(s.text)) == text:
			return s.text
		}
	}
}

// Text is what the number stands for.
func (t *Texts) Text(n Text) string { return string(t.bytes(n)) }

func (t *Texts) bytes(n Text) []byte {
	if n == 0 {
		return nil
	}
	at := t.places[(n-1)/placesOfList][(n-1)%placesOfList]
	page := t.pages[at>>offsetBits][uint32(at):]
	size, digits := binary.Uvarint(page)
	return page[digits:][:size]
}

// keep appends a text with its length, on a page of its own if need be.
func (t *Texts) keep(text string) {
	size := len(text) + binary.MaxVarintLen64
	last := len(t.pages) - 1
	if last < 0 || cap(t.pages[last])-len(t.pages[last]) < size {
		t.pages = append(t.pages, make([]byte, 0, max(pageSize, size)))
		last++
	}
	page := t.pages[last]
	if t.count%placesOfList == 0 {
		t.places = append(t.places, make([]uint64, 0, placesOfList))
	}
	list := &t.places[len(t.places)-1]
	*list = append(*list, uint64(last)<<offsetBits|uint64(len(page)))
	t.count++
	t.pages[last] = append(binary.AppendUvarint(page, uint64(len(text))), text...)
}

// hashOf is the same in every process, so that nothing ever depends on the process.
func hashOf(text string) uint32 {
	hash := uint64(keyed.Basis)
	for len(text) >= 8 {
		hash = keyed.Mix(hash ^ word(text))
		text = text[8:]
	}
	var last [8]byte
	copy(last[:], text)
	return uint32(keyed.Mix(hash ^ binary.LittleEndian.Uint64(last[:]) ^ uint64(len(text))<<56))
}

func word(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// first is the slot at which a hash is looked for.
func (t *Texts) first(hash uint32) int { return int(hash) & (len(t.slots) - 1) }

func (t *Texts) grow() {
	old := t.slots
	t.slots = make([]slot, max(64, 2*len(old)))
	for _, s := range old {
		if s.text == 0 {
			continue
		}
		at := t.first(s.hash)
		for t.slots[at].text != 0 {
			at = (at + 1) % len(t.slots)
		}
		t.slots[at] = s
	}
}
