package histories

import (
	"bytes"

	"github.com/shardproof/shardproof/histories/scenario"
)

// opDecoder reads operations as Writer writes them, field after field in the order of the struct, in
// a twentieth of the time that encoding/json takes. It knows nothing else: text with an escape, a
// change stream, fields in another order, or an error make it give up, and encoding/json decides.
// What both of them read, they read alike.
type opDecoder struct {
	rest   []byte
	first  bool // no field of the object was read yet
	failed bool
	texts  interner
}

// decode reads one line. When it returns false, o holds anything.
func (d *opDecoder) decode(line []byte, o *Op) bool {
	d.rest, d.failed = line, false
	d.open('{')
	o.ID = int(d.intField(`"id":`))
	o.Client = int(d.intField(`"client":`))
	o.NS = d.textField(`"ns":`)
	o.Kind = scenario.OpKind(d.textField(`"kind":`))
	o.Key = d.intField(`"key":`)
	o.To = d.intField(`"to":`)
	o.Value = d.textField(`"value":`)
	o.Expect = d.textField(`"expect":`)
	o.Concern = d.textField(`"concern":`)
	o.Prefer = d.textField(`"prefer":`)
	o.Causal = d.boolField(`"causal":`)
	o.Into = d.textField(`"into":`)
	o.Call = d.uintField(`"call":`)
	o.Return = d.uintField(`"return":`)
	o.CallAt = d.intField(`"callAt":`)
	o.ReturnAt = d.intField(`"returnAt":`)
	o.Outcome = Outcome(d.textField(`"outcome":`))
	o.Error = d.textField(`"error":`)
	o.Retries = int(d.intField(`"retries":`))
	if d.field(`"result":`) {
		d.result(&o.Result)
	}
	o.After = d.uintField(`"after":`)
	o.Time = d.uintField(`"time":`)
	o.Exact = d.boolField(`"exact":`)
	o.Lossy = d.boolField(`"lossy":`)
	d.close('}')
	return !d.failed && (len(d.rest) == 0 || string(d.rest) == "\n")
}

func (d *opDecoder) result(r *Result) {
	d.open('{')
	r.Found = d.boolField(`"found":`)
	r.Value = d.textField(`"value":`)
	r.List = d.listField(`"list":`)
	r.Applied = d.boolField(`"applied":`)
	r.N = int(d.intField(`"n":`))
	r.Upserted = d.boolField(`"upserted":`)
	if d.field(`"items":`) {
		d.items(r)
	}
	r.Complete = d.boolField(`"complete":`)
	d.close('}')
}

func (d *opDecoder) items(r *Result) {
	r.Items = []Item{}
	for d.open('['); d.more(); {
		var item Item
		d.open('{')
		item.Key = d.intField(`"key":`)
		item.Value = d.textField(`"value":`)
		item.List = d.listField(`"list":`)
		item.Return = d.uintField(`"return":`)
		d.close('}')
		r.Items = append(r.Items, item)
	}
	d.close(']')
}

func (d *opDecoder) listField(name string) []string {
	if !d.field(name) {
		return nil
	}
	list := []string{}
	for d.open('['); d.more(); {
		list = append(list, d.text())
	}
	d.close(']')
	return list
}

// more says whether the list has another element, which must follow.
func (d *opDecoder) more() bool {
	if d.failed || d.skip(']', false) {
		return false
	}
	if !d.first && !d.skip(',', true) {
		d.failed = true
	}
	d.first = false
	return !d.failed
}

// field says whether the named field comes next, and goes behind its name.
func (d *opDecoder) field(name string) bool {
	rest := d.rest
	if !d.first {
		if len(rest) == 0 || rest[0] != ',' {
			return false
		}
		rest = rest[1:]
	}
	if len(rest) < len(name) || string(rest[:len(name)]) != name {
		return false
	}
	d.rest, d.first = rest[len(name):], false
	return true
}

func (d *opDecoder) intField(name string) int64 {
	if !d.field(name) {
		return 0
	}
	if d.skip('-', true) {
		return -int64(d.number())
	}
	return int64(d.number())
}

func (d *opDecoder) uintField(name string) uint64 {
	if !d.field(name) {
		return 0
	}
	return d.number()
}

func (d *opDecoder) textField(name string) string {
	if !d.field(name) {
		return ""
	}
	return d.text()
}

func (d *opDecoder) boolField(name string) bool {
	if !d.field(name) {
		return false
	}
	rest, ok := bytes.CutPrefix(d.rest, []byte("true"))
	d.rest, d.failed = rest, d.failed || !ok
	return ok
}

// maxDigits is how many digits a number has at most that fits whatever the type.
const maxDigits = 18

func (d *opDecoder) number() (n uint64) {
	digits := 0
	for digits < len(d.rest) && d.rest[digits]-'0' <= 9 {
		n = n*10 + uint64(d.rest[digits]-'0')
		digits++
	}
	if digits == 0 || digits > maxDigits || digits > 1 && d.rest[0] == '0' {
		d.failed = true
		return 0
	}
	d.rest = d.rest[digits:]
	return n
}

func (d *opDecoder) text() string {
	if !d.skip('"', true) {
		d.failed = true
		return ""
	}
	for n, b := range d.rest {
		if b == '"' {
			text := d.texts.text(d.rest[:n])
			d.rest = d.rest[n+1:]
			return text
		}
		if b < ' ' || b >= 0x80 || b == '\\' {
			break
		}
	}
	d.failed = true
	return ""
}

func (d *opDecoder) open(b byte) {
	d.failed = d.failed || !d.skip(b, true)
	d.first = true
}

func (d *opDecoder) close(b byte) {
	d.failed = d.failed || !d.skip(b, true)
	d.first = false
}

// skip says whether the byte comes next, and goes behind it if wanted.
func (d *opDecoder) skip(b byte, behind bool) bool {
	if len(d.rest) == 0 || d.rest[0] != b {
		return false
	}
	if behind {
		d.rest = d.rest[1:]
	}
	return true
}

// interner makes text of bytes, and gives texts that come again soon only once: the same few names
// are in every record.
type interner struct{ recent [1 << 10]string }

func (t *interner) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	hash := uint32(len(b))
	for _, c := range b {
		hash = hash*31 + uint32(c)
	}
	known := &t.recent[hash%uint32(len(t.recent))]
	if *known != string(b) {
		*known = string(b)
	}
	return *known
}
