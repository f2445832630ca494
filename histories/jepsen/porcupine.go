package jepsen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/shardproof/shardproof/histories"
)

// porcupineOp is one of porcupine's operations as encoding/json writes it, of the key-value model
// that its documents and most of its users have: operations get, put and append, as words or as 0,
// 1 and 2.
type porcupineOp struct {
	ClientId     int
	Input        struct{ Op, Key, Value any }
	Call, Return int64
	Output       struct{ Value string }
}

// isPorcupine says whether the text begins as a list of porcupine's operations does.
func isPorcupine(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"ClientId"`))
}

// ReadPorcupine reads a list of porcupine's operations. Those that return at the same time as
// another is called overlap, as they do for porcupine.
func ReadPorcupine(file string, r io.Reader) ([]histories.Op, error) {
	p := &parser{file: file, open: map[int]int{},
		kv: kv{words: map[int64]map[string]bool{}, puts: map[put]bool{}}}
	var all []porcupineOp
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		var syntax *json.SyntaxError
		var typed *json.UnmarshalTypeError
		if errors.As(err, &syntax) || errors.As(err, &typed) ||
			errors.Is(err, io.ErrUnexpectedEOF) ||
			bytes.HasPrefix([]byte(err.Error()), []byte("json: unknown field")) {
			return nil, p.refuse("it is no list of porcupine's operations: "+err.Error(),
				"write []porcupine.Operation of the key-value model with encoding/json")
		}
		return nil, err
	}
	keys := map[string]int64{}
	for i := range all {
		if err := p.porcupine(&all[i], keys); err != nil {
			return nil, err
		}
	}
	if len(p.ops) == 0 {
		return nil, p.refuse("the file holds no operation", "give at least one")
	}
	order(p.ops, all)
	return p.ops, p.kv.explain(p)
}

func (p *parser) porcupine(o *porcupineOp, keys map[string]int64) error {
	p.line++
	kind := fmt.Sprint(o.Input.Op)
	if n, err := strconv.Atoi(kind); err == nil && n >= 0 && n < len(kvKinds) {
		kind = kvKinds[n]
	}
	if !slices.Contains(kvKinds, kind) {
		return p.refuse(fmt.Sprintf("the operation %v is unknown", o.Input.Op),
			"write get, put or append, or 0, 1 or 2")
	}
	if o.Return < o.Call {
		return p.refuse(fmt.Sprintf("operation %d returns at %d, before it was called at %d",
			p.line, o.Return, o.Call), "correct its times")
	}
	name, value := fmt.Sprint(o.Input.Key), ""
	if _, known := keys[name]; !known {
		keys[name] = int64(len(keys))
	}
	if o.Input.Value != nil {
		value = fmt.Sprint(o.Input.Value)
	}
	op, err := p.kv.op(p, kind, keys[name], value)
	if err != nil {
		return err
	}
	op.ID, op.Client, op.NS, op.Outcome = len(p.ops), o.ClientId, NS, histories.OK
	op.Result = histories.Result{Applied: kind != "get", Value: o.Output.Value}
	p.ops = append(p.ops, op)
	return nil
}

var kvKinds = []string{"get", "put", "append"}

// order gives every call and every return a place of its own, in the order of their times.
func order(ops []histories.Op, all []porcupineOp) {
	type moment struct {
		at      int64
		of      int
		returns int
	}
	var moments []moment
	for i := range all {
		moments = append(moments, moment{all[i].Call, i, 0}, moment{all[i].Return, i, 1})
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.returns, b.returns))
	})
	for n, m := range moments {
		if m.returns == 0 {
			ops[m.of].Call = uint64(n + 1)
		} else {
			ops[m.of].Return = uint64(n + 1)
		}
	}
}
