package histories

import (
	"github.com/shardproof/shardproof/histories/scenario"
)

// asWritten reads a line that stands as Writer writes it: every field in its place, and no blanks.
// There is nothing to look up then, only to compare. It refuses any other line.
func (d *opDecoder) asWritten(line []byte, o *Op) bool {
	d.line, d.at, d.failed, d.seen = line, 0, false, 0
	d.must(`{"id":`)
	o.ID = int(d.signed())
	d.must(`,"client":`)
	o.Client = int(d.signed())
	d.must(`,"ns":`)
	o.NS = d.text()
	d.must(`,"kind":`)
	o.Kind = scenario.OpKind(d.text())
	d.must(`,"key":`)
	o.Key = d.signed()
	if !d.has(`,"call":`) {
		d.operandsAsWritten(o)
		d.must(`,"call":`)
	}
	o.Call = d.number()
	d.answerAsWritten(o)
	if d.next() == ',' {
		d.timesAsWritten(o)
	}
	return !d.failed && string(d.line[d.at:]) == "}\n"
}

func (d *opDecoder) operandsAsWritten(o *Op) {
	if d.has(`,"to":`) {
		o.To = d.signed()
	}
	if d.has(`,"value":`) {
		o.Value = d.text()
	}
	if d.has(`,"expect":`) {
		o.Expect = d.text()
	}
	if d.has(`,"concern":`) {
		o.Concern = d.text()
	}
	if d.has(`,"prefer":`) {
		o.Prefer = d.text()
	}
	o.Causal = d.has(`,"causal":true`)
	if d.has(`,"into":`) {
		o.Into = d.text()
	}
}

func (d *opDecoder) answerAsWritten(o *Op) {
	d.must(`,"return":`)
	o.Return = d.number()
	d.must(`,"callAt":`)
	o.CallAt = d.signed()
	d.must(`,"returnAt":`)
	o.ReturnAt = d.signed()
	d.must(`,"outcome":`)
	o.Outcome = Outcome(d.text())
	if !d.has(`,"result":{`) {
		if d.has(`,"error":`) {
			o.Error = d.text()
		}
		if d.has(`,"retries":`) {
			o.Retries = int(d.signed())
		}
		d.must(`,"result":{`)
	}
	for !d.has(`}`) && !d.failed {
		d.resultAsWritten(&o.Result)
	}
}

// resultAsWritten reads one field of the result, and the comma behind it. These fields may stand in
// any order.
func (d *opDecoder) resultAsWritten(r *Result) {
	switch {
	case d.has(`"found":`):
		r.Found = d.truth(32)
	case d.has(`"value":`):
		r.Value = d.textOf(33)
	case d.has(`"applied":`):
		r.Applied = d.truth(35)
	case d.has(`"n":`):
		r.N = int(d.integer(36))
	case d.has(`"upserted":`):
		r.Upserted = d.truth(37)
	default:
		d.first = true
		if !d.more('}') {
			d.failed = true
			return
		}
		d.resultField(r)
	}
	if d.next() != '}' {
		d.skip(',')
		d.failed = d.failed || d.next() == '}'
	}
}

func (d *opDecoder) timesAsWritten(o *Op) {
	if d.has(`,"after":`) {
		o.After = d.number()
	}
	if d.has(`,"time":`) {
		o.Time = d.number()
	}
	o.Exact = d.has(`,"exact":true`)
	if d.has(`,"since":`) {
		o.Since = d.number()
	}
	o.Lossy = d.has(`,"lossy":true`)
}

// has goes behind what comes next if it is that.
func (d *opDecoder) has(what string) bool {
	rest := d.line[d.at:]
	if len(rest) < len(what) || string(rest[:len(what)]) != what {
		return false
	}
	d.at += len(what)
	return true
}

func (d *opDecoder) must(what string) {
	if !d.has(what) {
		d.failed = true
	}
}
