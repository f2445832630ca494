package jepsen

import (
	"regexp"
	"strconv"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// registerLine is "INFO  jepsen.util - 4 :invoke :cas [2 4]".
var registerLine = regexp.MustCompile(
	`^INFO\s+jepsen\.util - (\d+)\s+:(invoke|ok|fail|info)\s+:(read|write|cas)\s+(nil|:timed-out|\d+|\[\d+ \d+\])$`,
)

var pair = regexp.MustCompile(`\d+`)

func (p *parser) register(m [][]byte) error {
	process, _ := strconv.Atoi(string(m[1]))
	kind, value := string(m[3]), string(m[4])
	if string(m[2]) == "invoke" {
		return p.call(process, registerOp(kind, value))
	}
	op, err := p.end(process)
	if err != nil {
		return err
	}
	switch string(m[2]) {
	case "ok":
		op.Outcome = histories.OK
		op.Result = registerResult(kind, value)
	case "fail":
		// A compare-and-set that failed was carried out and found another value; anything else did
		// not happen.
		op.Outcome = histories.Failed
		if kind == "cas" {
			op.Outcome = histories.OK
		}
	}
	return nil
}

// registerOp: the register starts as nil, which is no document; a write replaces it blindly.
func registerOp(kind, value string) histories.Op {
	switch kind {
	case "write":
		return histories.Op{Kind: scenario.Upsert, Value: value}
	case "cas":
		values := pair.FindAllString(value, 2)
		return histories.Op{Kind: scenario.CAS, Expect: values[0], Value: values[1]}
	}
	return histories.Op{Kind: scenario.Read}
}

func registerResult(kind, value string) histories.Result {
	switch {
	case kind != "read":
		return histories.Result{Applied: true, N: 1}
	case value == "nil":
		return histories.Result{}
	}
	return histories.Result{Found: true, Value: value}
}
