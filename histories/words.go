package histories

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// Numbers and texts are most of a line, and are read eight bytes at a time: as a word in which the
// first byte is the lowest.

// each is a word of that byte; highest is the highest bit of each.
const (
	each    = 0x0101010101010101
	highest = 0x80 * each
)

// word is the next eight bytes; where the line has fewer, the rest is 0, which no record has.
func (d *opDecoder) word(from int) uint64 {
	if from+8 <= len(d.line) {
		return binary.LittleEndian.Uint64(d.line[from:])
	}
	var last [8]byte
	copy(last[:], d.line[from:])
	return binary.LittleEndian.Uint64(last[:])
}

// digits is how many bytes there are before the first that is no digit.
func digits(word uint64) int {
	word ^= '0' * each
	return bits.TrailingZeros64((word+(0x7f-9)*each|word)&highest) / 8
}

// plain is how many bytes there are before the first that is not part of a text without escapes: a
// quote, a backslash, a control character, or one that is not ASCII.
func plain(word uint64) int {
	quote, escape := word^'"'*each, word^'\\'*each
	special := (quote-each)&^quote | (escape-each)&^escape | (word-' '*each)&^word | word
	return bits.TrailingZeros64(special&highest) / 8
}

// numberOf is what so many digits say, at least one.
func numberOf(word uint64, digits int) uint64 {
	word = (word ^ '0'*each) << (64 - 8*digits)
	word = (word*10 + word>>8) & 0x00ff00ff00ff00ff
	word = (word*100 + word>>16) & 0x0000ffff0000ffff
	return (word*10_000 + word>>32) & 0xffffffff
}

// maxDigits is how many digits a number has at most that fits whatever the type.
const maxDigits = 18

// What reads here says where it ended, and does not note it in the decoder: that would be the
// longest chain of a line, through memory.

func (d *opDecoder) number(at int) (n uint64, end int) {
	word := d.word(at)
	count := digits(word)
	if count == 0 || count > 1 && byte(word) == '0' {
		d.failed = true
		return 0, at
	}
	n = numberOf(word, count)
	if count == 8 {
		return d.longNumber(n, at+8)
	}
	return n, at + count
}

// longNumber goes on with a number of which eight digits were read.
func (d *opDecoder) longNumber(n uint64, at int) (uint64, int) {
	word := d.word(at)
	count := digits(word)
	if count > 0 {
		n = n*powers[count] + numberOf(word, count)
	}
	at += count
	for count += 8; count >= 16 && at < len(d.line) && d.line[at]-'0' <= 9; at++ {
		n = n*10 + uint64(d.line[at]-'0')
		count++
	}
	d.failed = d.failed || count > maxDigits
	return n, at
}

// powers are those of ten.
var powers = [...]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

func (d *opDecoder) signed(at int) (n int64, end int) {
	minus := at < len(d.line) && d.line[at] == '-'
	if minus {
		at++
	}
	number, end := d.number(at)
	if n = int64(number); minus {
		n = -n
	}
	return n, end
}

func (d *opDecoder) text(at int) (text string, end int) {
	if at >= len(d.line) || d.line[at] != '"' {
		d.failed = true
		return "", at
	}
	at++
	word := d.word(at)
	if count := plain(word); count < 8 && at+count < len(d.line) && d.line[at+count] == '"' {
		end = at + count
		return d.texts.short(d.line[at:end], word&(1<<(8*count)-1)), end + 1
	}
	return d.longText(at)
}

// longText reads a text of eight bytes or more, or finds that it is none.
func (d *opDecoder) longText(from int) (text string, end int) {
	hash := uint64(0)
	end = from
	for more := 8; more == 8; end += more {
		word := d.word(end)
		more = plain(word)
		hash = (hash ^ word&(1<<(8*more)-1)) * 0x9e3779b97f4a7c15
	}
	if end >= len(d.line) || d.line[end] != '"' {
		d.failed = true
		return "", end
	}
	return d.texts.long(d.line[from:end], hash), end + 1
}

// interner makes text of bytes, and gives texts that come again soon only once: the same few names
// are in every record.
type interner struct {
	// shorts are texts of less than eight bytes, each with its bytes as a word.
	shorts [1 << 10]shortText
	longs  [1 << 8]string
	// made holds new texts one behind the other, so that few of them need memory of their own.
	made strings.Builder
}

type shortText struct {
	word uint64
	text string
}

func (t *interner) short(b []byte, word uint64) string {
	known := &t.shorts[word*0x9e3779b97f4a7c15>>54]
	if known.word != word {
		known.word, known.text = word, t.make(b)
	}
	return known.text
}

// long is the text of the bytes, whose hash tells apart most texts that come soon after each other.
func (t *interner) long(b []byte, hash uint64) string {
	known := &t.longs[hash>>56]
	if *known != string(b) {
		*known = t.make(b)
	}
	return *known
}

// madeAtOnce is how many bytes of texts share memory, which is kept as long as one of them is.
const madeAtOnce = 1 << 10

func (t *interner) make(b []byte) string {
	from := t.made.Len()
	if from+len(b) > t.made.Cap() {
		if len(b) > madeAtOnce/8 {
			return string(b)
		}
		from = 0
		t.made.Reset()
		t.made.Grow(madeAtOnce)
	}
	t.made.Write(b)
	return t.made.String()[from:]
}
