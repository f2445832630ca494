package histories

import (
	"encoding/binary"

	"github.com/shardproof/shardproof/histories/scenario"
)

// mark is what stands between two values, of at most sixteen bytes, as the words that it begins and
// ends with: compared so, it costs a few instructions and no call.
type mark struct {
	text             string
	first, last      uint64
	mask             uint64 // of the words, where the text is shorter than one
	size, fromOfLast int
}

func markOf(text string) mark {
	var padded [8]byte
	copy(padded[:], text)
	m := mark{text: text, size: len(text), mask: 1<<(8*len(text)) - 1}
	m.first = binary.LittleEndian.Uint64(padded[:])
	if m.last = m.first; len(text) >= 8 {
		m.mask, m.fromOfLast = ^uint64(0), len(text)-8
		copy(padded[:], text[m.fromOfLast:])
		m.last = binary.LittleEndian.Uint64(padded[:])
	}
	return m
}

var (
	idMark, clientMark, nsMark = markOf(`{"id":`), markOf(`,"client":`), markOf(`,"ns":`)
	kindMark, keyMark          = markOf(`,"kind":`), markOf(`,"key":`)

	toMark, valueMark, expectMark = markOf(`,"to":`), markOf(`,"value":`), markOf(`,"expect":`)
	concernMark, preferMark       = markOf(`,"concern":`), markOf(`,"prefer":`)
	causalMark, intoMark          = markOf(`,"causal":true`), markOf(`,"into":`)

	callMark, returnMark     = markOf(`,"call":`), markOf(`,"return":`)
	callAtMark, returnAtMark = markOf(`,"callAt":`), markOf(`,"returnAt":`)
	outcomeMark, errorMark   = markOf(`,"outcome":`), markOf(`,"error":`)
	retriesMark, resultMark  = markOf(`,"retries":`), markOf(`,"result":{`)

	afterMark, timeMark, exactMark = markOf(`,"after":`), markOf(`,"time":`), markOf(`,"exact":true`)
	sinceMark, lossyMark           = markOf(`,"since":`), markOf(`,"lossy":true`)

	foundMark, resultValueMark = markOf(`"found":true`), markOf(`"value":`)
	appliedMark, countMark     = markOf(`"applied":true`), markOf(`"n":`)
	upsertedMark               = markOf(`"upserted":true`)
)

// asWritten reads a line that stands as Writer writes it: every field in its place, and no blanks.
// There is nothing to look up then, only to compare. It refuses any other line.
func (d *opDecoder) asWritten(line []byte, o *Op) bool {
	d.line, d.failed, d.seen = line, false, 0
	at := d.must(0, &idMark)
	id, at := d.signed(at)
	at = d.must(at, &clientMark)
	client, at := d.signed(at)
	o.ID, o.Client = int(id), int(client)
	at = d.must(at, &nsMark)
	o.NS, at = d.text(at)
	at = d.must(at, &kindMark)
	kind, at := d.text(at)
	o.Kind = scenario.OpKind(kind)
	at = d.must(at, &keyMark)
	o.Key, at = d.signed(at)
	if !d.has(at, &callMark) {
		at = d.operandsAsWritten(at, o)
	}
	at = d.answerAsWritten(at, o)
	if at < len(line) && line[at] == ',' {
		at = d.timesAsWritten(at, o)
	}
	return !d.failed && string(line[at:]) == "}\n"
}

func (d *opDecoder) operandsAsWritten(at int, o *Op) int {
	if d.has(at, &toMark) {
		o.To, at = d.signed(at + toMark.size)
	}
	if d.has(at, &valueMark) {
		o.Value, at = d.text(at + valueMark.size)
	}
	if d.has(at, &expectMark) {
		o.Expect, at = d.text(at + expectMark.size)
	}
	if d.has(at, &concernMark) {
		o.Concern, at = d.text(at + concernMark.size)
	}
	if d.has(at, &callMark) {
		return at
	}
	if d.has(at, &preferMark) {
		o.Prefer, at = d.text(at + preferMark.size)
	}
	if o.Causal = d.has(at, &causalMark); o.Causal {
		at += causalMark.size
	}
	if d.has(at, &intoMark) {
		o.Into, at = d.text(at + intoMark.size)
	}
	return at
}

func (d *opDecoder) answerAsWritten(at int, o *Op) int {
	at = d.must(at, &callMark)
	o.Call, at = d.number(at)
	at = d.must(at, &returnMark)
	o.Return, at = d.number(at)
	at = d.must(at, &callAtMark)
	o.CallAt, at = d.signed(at)
	at = d.must(at, &returnAtMark)
	o.ReturnAt, at = d.signed(at)
	at = d.must(at, &outcomeMark)
	outcome, at := d.text(at)
	o.Outcome = Outcome(outcome)
	if !d.has(at, &resultMark) {
		at = d.errorAsWritten(at, o)
	}
	at = d.must(at, &resultMark)
	for at < len(d.line) && d.line[at] != '}' && !d.failed {
		at = d.resultAsWritten(at, &o.Result)
	}
	if at == len(d.line) {
		d.failed = true
		return at
	}
	return at + 1
}

func (d *opDecoder) errorAsWritten(at int, o *Op) int {
	if d.has(at, &errorMark) {
		o.Error, at = d.text(at + errorMark.size)
	}
	if d.has(at, &retriesMark) {
		var retries int64
		retries, at = d.signed(at + retriesMark.size)
		o.Retries = int(retries)
	}
	return at
}

// resultAsWritten reads one field of the result, and the comma behind it. These fields may stand in
// any order.
func (d *opDecoder) resultAsWritten(at int, r *Result) int {
	d.at = at
	switch {
	case d.has(at, &foundMark):
		d.once(32)
		r.Found, d.at = true, at+foundMark.size
	case d.has(at, &resultValueMark):
		d.once(33)
		r.Value, d.at = d.text(at + resultValueMark.size)
	case d.has(at, &appliedMark):
		d.once(35)
		r.Applied, d.at = true, at+appliedMark.size
	case d.has(at, &countMark):
		d.at += countMark.size
		r.N = int(d.integer(36))
	case d.has(at, &upsertedMark):
		d.once(37)
		r.Upserted, d.at = true, at+upsertedMark.size
	default:
		d.first = true
		if !d.more('}') {
			d.failed = true
			return d.at
		}
		d.resultField(r)
	}
	if d.next() != '}' {
		d.skip(',')
		d.failed = d.failed || d.next() == '}'
	}
	return d.at
}

func (d *opDecoder) timesAsWritten(at int, o *Op) int {
	if d.has(at, &afterMark) {
		o.After, at = d.number(at + afterMark.size)
	}
	if d.has(at, &timeMark) {
		o.Time, at = d.number(at + timeMark.size)
	}
	if o.Exact = d.has(at, &exactMark); o.Exact {
		at += exactMark.size
	}
	if d.has(at, &sinceMark) {
		o.Since, at = d.number(at + sinceMark.size)
	}
	if o.Lossy = d.has(at, &lossyMark); o.Lossy {
		at += lossyMark.size
	}
	return at
}

// has says whether the mark comes next.
func (d *opDecoder) has(at int, m *mark) bool {
	rest := d.line[at:]
	if len(rest) < 16 {
		return len(rest) >= m.size && string(rest[:m.size]) == m.text
	}
	return binary.LittleEndian.Uint64(rest)&m.mask == m.first &&
		binary.LittleEndian.Uint64(rest[m.fromOfLast:])&m.mask == m.last
}

// must goes behind a mark, which must come next.
func (d *opDecoder) must(at int, m *mark) int {
	if !d.has(at, m) {
		d.failed = true
		return at
	}
	return at + m.size
}
