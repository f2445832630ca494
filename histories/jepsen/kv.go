package jepsen

import (
	"fmt"
	"regexp"
	"slices"
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
// gives the document its value, and each append pushes to its list. A string that was read is taken
// apart into the words that were put and appended to its key.
type kv struct {
	puts  map[put]bool
	words map[int64]map[string]bool
}

// put is what was put where: the same word may have been appended to another key.
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
		op, err := p.kv.op(p, string(m[3]), key, value)
		if err != nil {
			return err
		}
		return p.call(process, op)
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

func (v *kv) op(p *parser, kind string, key int64, value string) (histories.Op, error) {
	if kind == "get" {
		return histories.Op{Kind: scenario.Read, Key: key}, nil
	}
	if value == "" {
		return histories.Op{}, p.refuse("the "+kind+" has no value", "put and append words")
	}
	if v.words[key] == nil {
		v.words[key] = map[string]bool{}
	}
	v.words[key][value] = true
	if kind == "put" {
		v.puts[put{key, value}] = true
		return histories.Op{Kind: scenario.Upsert, Key: key, Value: value}, nil
	}
	return histories.Op{Kind: scenario.Push, Key: key, Value: value}, nil
}

// explain takes the strings that were read apart, once it is known which words there are.
func (v *kv) explain(p *parser) error {
	longest := map[int64]int{}
	for key, words := range v.words {
		for word := range words {
			longest[key] = max(longest[key], len(word))
		}
	}
	for i := range p.ops {
		op := &p.ops[i]
		read := op.Kind == scenario.Read && op.Outcome == histories.OK && !op.Result.Found
		if !read || op.Result.Value == "" {
			continue
		}
		pieces, ways := cut(op.Result.Value, v.words[op.Key], longest[op.Key])
		if ways > 1 {
			p.line = int(op.Return)
			return p.refuse(fmt.Sprintf("%.60q can be taken apart into the words of its key in "+
				"several ways", op.Result.Value), "append words none of which is made of others")
		}
		r := histories.Result{Found: true, List: pieces}
		if v.puts[put{op.Key, r.List[0]}] {
			r.Value, r.List = r.List[0], r.List[1:]
		}
		op.Result = r
	}
	return nil
}

// cut takes a string apart into words, and says in how many ways that can be done: 0, 1, or 2 for
// more. Where there is none, the string itself is the only piece, which nobody has written.
func cut(s string, words map[string]bool, longest int) (pieces []string, ways int) {
	// at[i] is in how many ways the first i bytes can be taken apart, last[i] the length of the
	// last word of one of them.
	at, last := make([]uint8, len(s)+1), make([]int, len(s)+1)
	at[0] = 1
	for end := 1; end <= len(s); end++ {
		for n := 1; n <= min(end, longest); n++ {
			if at[end-n] > 0 && words[s[end-n:end]] {
				at[end], last[end] = min(2, at[end]+at[end-n]), n
			}
		}
	}
	if at[len(s)] == 0 {
		return []string{s}, 0
	}
	for end := len(s); end > 0; end -= last[end] {
		pieces = append(pieces, s[end-last[end]:end])
	}
	slices.Reverse(pieces)
	return pieces, int(at[len(s)])
}
