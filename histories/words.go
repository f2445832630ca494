package histories

import (
	"encoding/binary"
	"math/bits"
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

func (d *opDecoder) number() uint64 {
	word := d.word(d.at)
	count := digits(word)
	if count == 0 || count > 1 && byte(word) == '0' {
		d.failed = true
		return 0
	}
	d.at += count
	n := numberOf(word, count)
	if count == 8 {
		return d.longNumber(n)
	}
	return n
}

// longNumber goes on with a number of which eight digits were read.
func (d *opDecoder) longNumber(n uint64) uint64 {
	count := 8
	for ; d.at < len(d.line) && d.line[d.at]-'0' <= 9; d.at++ {
		n = n*10 + uint64(d.line[d.at]-'0')
		count++
	}
	d.failed = d.failed || count > maxDigits
	return n
}

func (d *opDecoder) text() string {
	d.skip('"')
	word := d.word(d.at)
	if count := plain(word); count < 8 && d.at+count < len(d.line) &&
		d.line[d.at+count] == '"' && !d.failed {
		text := d.line[d.at : d.at+count]
		d.at += count + 1
		return d.texts.short(text, word&(1<<(8*count)-1))
	}
	return d.longText()
}

// longText reads a text of eight bytes or more, or finds that it is none.
func (d *opDecoder) longText() string {
	from, hash := d.at, uint64(0)
	for more := 8; more == 8; d.at += more {
		word := d.word(d.at)
		more = plain(word)
		hash = (hash ^ word&(1<<(8*more)-1)) * 0x9e3779b97f4a7c15
	}
	text := d.line[from:d.at]
	d.skip('"')
	if d.failed {
		return ""
	}
	return d.texts.long(text, hash)
}

// interner makes text of bytes, and gives texts that come again soon only once: the same few names
// are in every record.
type interner struct {
	// shorts are texts of less than eight bytes, each with its bytes as a word.
	shorts [1 << 10]shortText
	longs  [1 << 8]string
}

type shortText struct {
	word uint64
	text string
}

func (t *interner) short(b []byte, word uint64) string {
	known := &t.shorts[word*0x9e3779b97f4a7c15>>54]
	if known.word != word {
		known.word, known.text = word, string(b)
	}
	return known.text
}

// long is the text of the bytes, whose hash tells apart most texts that come soon after each other.
func (t *interner) long(b []byte, hash uint64) string {
	known := &t.longs[hash>>56]
	if *known != string(b) {
		*known = string(b)
	}
	return *known
}
