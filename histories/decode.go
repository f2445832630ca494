package histories

import (
	"github.com/shardproof/shardproof/histories/scenario"
)

// opDecoder reads operations in less than a tenth of the time of encoding/json. It knows nothing
// else: text with an escape, a change stream, a field that it does not know or that comes twice, or
// an error make it give up, and encoding/json decides. What both of them read, they read alike.
type opDecoder struct {
	line   []byte
	at     int  // how many bytes of the line were read
	first  bool // no field of the object was read yet
	failed bool
	seen   uint64 // the fields that were read, by the numbers that they have below
	texts  interner
}

// decode reads one line. When it returns false, o holds anything.
func (d *opDecoder) decode(line []byte, o *Op) bool {
	if d.asWritten(line, o) {
		return true
	}
	*o = Op{}
	d.line, d.at, d.failed, d.seen = line, 0, false, 0
	for d.open('{'); d.more('}'); {
		d.opField(o)
	}
	d.close('}')
	d.blanks()
	rest := d.line[d.at:]
	return !d.failed && (len(rest) == 0 || string(rest) == "\n")
}

func (d *opDecoder) opField(o *Op) {
	switch string(d.name()) {
	case "id":
		o.ID = int(d.integer(0))
	case "client":
		o.Client = int(d.integer(1))
	case "ns":
		o.NS = d.textOf(2)
	case "kind":
		o.Kind = scenario.OpKind(d.textOf(3))
	case "key":
		o.Key = d.integer(4)
	case "to":
		o.To = d.integer(5)
	case "value":
		o.Value = d.textOf(6)
	case "expect":
		o.Expect = d.textOf(7)
	case "concern":
		o.Concern = d.textOf(8)
	case "prefer":
		o.Prefer = d.textOf(9)
	case "causal":
		o.Causal = d.truth(10)
	case "into":
		o.Into = d.textOf(11)
	case "call":
		o.Call = d.unsigned(12)
	case "return":
		o.Return = d.unsigned(13)
	case "callAt":
		o.CallAt = d.integer(14)
	case "returnAt":
		o.ReturnAt = d.integer(15)
	case "outcome":
		o.Outcome = Outcome(d.textOf(16))
	case "error":
		o.Error = d.textOf(17)
	case "retries":
		o.Retries = int(d.integer(18))
	case "after":
		o.After = d.unsigned(19)
	case "time":
		o.Time = d.unsigned(20)
	case "exact":
		o.Exact = d.truth(21)
	case "since":
		o.Since = d.unsigned(22)
	case "lossy":
		o.Lossy = d.truth(23)
	case "result":
		d.result(24, &o.Result)
	default:
		d.failed = true
	}
}

func (d *opDecoder) result(number int, r *Result) {
	d.once(number)
	for d.open('{'); d.more('}'); {
		d.resultField(r)
	}
	d.close('}')
}

func (d *opDecoder) resultField(r *Result) {
	switch string(d.name()) {
	case "found":
		r.Found = d.truth(32)
	case "value":
		r.Value = d.textOf(33)
	case "list":
		r.List = d.list(34)
	case "applied":
		r.Applied = d.truth(35)
	case "n":
		r.N = int(d.integer(36))
	case "upserted":
		r.Upserted = d.truth(37)
	case "items":
		d.items(38, r)
	case "complete":
		r.Complete = d.truth(39)
	default:
		d.failed = true
	}
}

func (d *opDecoder) items(number int, r *Result) {
	d.once(number)
	r.Items = []Item{}
	for d.open('['); d.more(']'); {
		d.seen &^= 0xf << firstOfItem
		var item Item
		for d.open('{'); d.more('}'); {
			d.itemField(&item)
		}
		d.close('}')
		r.Items = append(r.Items, item)
	}
	d.close(']')
}

// firstOfItem is the number of the first field of an item, of which there are four.
const firstOfItem = 48

func (d *opDecoder) itemField(item *Item) {
	switch string(d.name()) {
	case "key":
		item.Key = d.integer(firstOfItem)
	case "value":
		item.Value = d.textOf(firstOfItem + 1)
	case "list":
		item.List = d.list(firstOfItem + 2)
	case "return":
		item.Return = d.unsigned(firstOfItem + 3)
	default:
		d.failed = true
	}
}

func (d *opDecoder) list(number int) []string {
	d.once(number)
	list := []string{}
	for d.open('['); d.more(']'); {
		list = append(list, d.nextText())
	}
	d.close(']')
	return list
}

// more says whether the object or list has another element, which must follow.
func (d *opDecoder) more(end byte) bool {
	d.blanks()
	next := d.next()
	switch {
	case d.failed || next == end:
		return false
	case !d.first && next == ',':
		d.at++
		d.blanks()
	case !d.first:
		d.failed = true
	}
	d.first = false
	return !d.failed
}

// name reads the name of a field, and what parts it from its value.
func (d *opDecoder) name() []byte {
	d.skip('"')
	from := d.at
	for d.at < len(d.line) && d.line[d.at] != '"' {
		d.at++
	}
	name := d.line[from:d.at]
	d.skip('"')
	d.blanks()
	d.skip(':')
	d.blanks()
	return name
}

// once notes that a field was read: of one that comes twice another reader takes the second.
func (d *opDecoder) once(number int) {
	d.failed = d.failed || d.seen&(1<<number) != 0
	d.seen |= 1 << number
}

func (d *opDecoder) integer(number int) (n int64) {
	d.once(number)
	n, d.at = d.signed(d.at)
	return n
}

func (d *opDecoder) unsigned(number int) (n uint64) {
	d.once(number)
	n, d.at = d.number(d.at)
	return n
}

func (d *opDecoder) textOf(number int) string {
	d.once(number)
	return d.nextText()
}

func (d *opDecoder) nextText() (text string) {
	text, d.at = d.text(d.at)
	return text
}

func (d *opDecoder) truth(number int) bool {
	d.once(number)
	truth := d.next() == 't'
	word := "false"
	if truth {
		word = "true"
	}
	rest := d.line[d.at:]
	if len(rest) < len(word) || string(rest[:len(word)]) != word {
		d.failed = true
		return false
	}
	d.at += len(word)
	return truth
}

func (d *opDecoder) blanks() {
	for d.at < len(d.line) && (d.line[d.at] == ' ' || d.line[d.at] == '\t') {
		d.at++
	}
}

func (d *opDecoder) open(b byte) {
	d.blanks()
	d.skip(b)
	d.first = true
}

func (d *opDecoder) close(b byte) {
	d.skip(b)
	d.first = false
}

// next is the byte that comes next; 0, which no record has, at the end.
func (d *opDecoder) next() byte {
	if d.at < len(d.line) {
		return d.line[d.at]
	}
	return 0
}

// skip goes behind the byte, which must come next.
func (d *opDecoder) skip(b byte) {
	if d.at < len(d.line) && d.line[d.at] == b {
		d.at++
		return
	}
	d.failed = true
}
