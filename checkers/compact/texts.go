package compact

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/shardproof/shardproof/histories/keyed"
)

// Text is a text of a history, by number; 0 is the empty one. Equal texts have equal numbers, and
// texts that were new at about the same time have numbers that lie close together.
type Text uint32

// Texts are the texts of a history. A history of ten million writes has as many, so they stand in
// pages without a pointer to each: the number says where.
type Texts struct {
	// pages hold texts with their lengths; each begins at a multiple of unit. Long ones stand in a
	// list, so that numbers lie close together: what is kept by number takes little more than that.
	pages [][]byte
	long  []string
	count int
	// slots are open addresses by hash.
	slots []slot
}

type slot struct {
	hash uint32
	text Text
}

const (
	unit        = 8
	unitsOfPage = 1 << 13
	longest     = 64   // on a page
	isLong      = 0xff // in the place of a length: the place in the list follows
)

// Len is above the number of every text.
func (t *Texts) Len() int {
	last := len(t.pages) - 1
	if last < 0 {
		return 1
	}
	return last*unitsOfPage + max(1, len(t.pages[last])/unit)
}

// Of is the number of a text.
func (t *Texts) Of(text string) Text {
	if text == "" {
		return 0
	}
	if 4*t.count >= 3*len(t.slots) {
		t.grow()
	}
	hash := hashOf(text)
	for at := t.first(hash); ; at = (at + 1) & (len(t.slots) - 1) {
		switch s := &t.slots[at]; {
		case s.text == 0:
			*s = slot{hash, t.keep(text)}
			return s.text
		case s.hash == hash && t.is(s.text, text):
			return s.text
		}
	}
}

// Text is what the number stands for.
func (t *Texts) Text(n Text) string {
	if n == 0 {
		return ""
	}
	page := t.pages[n/unitsOfPage][n%unitsOfPage*unit:]
	if page[0] == isLong {
		return t.long[binary.LittleEndian.Uint32(page[1:])]
	}
	return string(page[1 : 1+page[0]])
}

func (t *Texts) is(n Text, text string) bool {
	page := t.pages[n/unitsOfPage][n%unitsOfPage*unit:]
	if page[0] == isLong {
		return t.long[binary.LittleEndian.Uint32(page[1:])] == text
	}
	return string(page[1:1+page[0]]) == text
}

// keep appends a text with its length.
func (t *Texts) keep(text string) Text {
	last := len(t.pages) - 1
	if last < 0 || len(t.pages[last])+longest+unit > unit*unitsOfPage {
		var page []byte
		if last >= 0 { // a history that fills one page fills others
			page = make([]byte, 0, unit*unitsOfPage)
		}
		t.pages = append(t.pages, page)
		last++
	}
	page := t.pages[last]
	if last == 0 && len(page) == 0 {
		page = make([]byte, unit) // 0 is the empty text
	}
	n := last*unitsOfPage + len(page)/unit
	if n > math.MaxUint32 {
		panic(fmt.Sprintf("compact: a history of %d different texts is too long", t.count))
	}
	if len(text) > longest {
		page = binary.LittleEndian.AppendUint32(append(page, isLong), uint32(len(t.long)))
		t.long = append(t.long, strings.Clone(text))
	} else {
		page = append(append(page, byte(len(text))), text...)
	}
	for len(page)%unit != 0 {
		page = append(page, 0)
	}
	t.pages[last] = page
	t.count++
	return Text(n)
}

// near is how many slots texts have in common that differ in their last character only, as those of
// successive numbers do: what was new at about the same time is looked for at about the same time.
const near = 16

// hashOf is the same in every process, so that nothing ever depends on the process. Its lowest bits
// are those of the last character.
func hashOf(text string) uint32 {
	end := len(text) - 1
	rest, hash := text[:end], uint64(keyed.Basis)
	for len(rest) >= 8 {
		hash = keyed.Mix(hash ^ word(rest))
		rest = rest[8:]
	}
	var last [8]byte
	copy(last[:], rest)
	hash = keyed.Mix(hash ^ binary.LittleEndian.Uint64(last[:]) ^ uint64(len(rest))<<56)
	return uint32(hash)&^(near-1) | uint32(text[end])%near
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
			at = (at + 1) & (len(t.slots) - 1)
		}
		t.slots[at] = s
	}
}
