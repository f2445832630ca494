package jepsen

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// kvLine is {:process 0, :type :ok, :f :append, :key "4", :value "x 0 1 y"}.
var kvLine = regexp.MustCompile(
	`^\{:process (\d+), :type :(invoke|ok|fail|info), :f :(get|put|append), :key "(\d+)", :value (nil|"[^"]*")\}$`,
)

// kv reads strings as documents: a key starts as the empty string, which is no document; a put
// gives the document its value, and each append pushes to its list. Strings are runs of "x client
// number y".
type kv struct{ puts map[put]bool }

// put is what was put where: the same piece may have been appended to another key.
type put struct {
	key   int64
	value string
}

func (p *parser) keyValue(m [][]byte) error {
	process, _ := strconv.Atoi(string(m[1]))
	key, err := strconv.ParseInt(string(m[4]), 10, 64)
	if err != nil {
		return p.refuse("the key "+string(m[4])+" is too large", "correct the line")
	}
	value := strings.Trim(string(m[5]), `"`)
	if string(m[2]) == "invoke" {
		return p.call(process, p.kv.op(string(m[3]), key, value))
	}
	op, err := p.end(process)
	if err != nil {
		return err
	}
	switch string(m[2]) {
	case "ok":
		op.Outcome = histories.OK
		op.Result = histories.Result{Applied: op.Kind != scenario.Read, Value: value}
	case "fail":
		op.Outcome = histories.Failed
	}
	return nil
}

func (v *kv) op(kind string, key int64, value string) histories.Op {
	switch kind {
	case "put":
		v.puts[put{key, value}] = true
		return histories.Op{Kind: scenario.Upsert, Key: key, Value: value}
	case "append":
		return histories.Op{Kind: scenario.Push, Key: key, Value: value}
	}
	return histories.Op{Kind: scenario.Read, Key: key}
}

// explain takes the strings that were read apart, once it is known which pieces were put.
func (v *kv) explain(ops []histories.Op) {
	for i := range ops {
		op := &ops[i]
		if op.Kind != scenario.Read || op.Outcome != histories.OK || op.NS != NS ||
			op.Result.Found {
			continue
		}
		if op.Result.Value == "" {
			continue
		}
		r := histories.Result{Found: true, List: pieces(op.Result.Value)}
		if v.puts[put{op.Key, r.List[0]}] {
			r.Value, r.List = r.List[0], r.List[1:]
		}
		op.Result = r
	}
}

// pieces cuts after every "y".
func pieces(s string) []string {
	all := strings.SplitAfter(s, "y")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}
