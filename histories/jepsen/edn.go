package jepsen

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"olympos.io/encoding/edn"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// isEDN says whether the text begins as history.edn does: a map with keywords, a vector of such
// maps, or one with the tag of Jepsen's operations.
func isEDN(head []byte) bool {
	head = bytes.TrimLeft(head, "[ \t\r\n")
	return bytes.HasPrefix(head, []byte("{:")) || bytes.HasPrefix(head, []byte(operationTag))
}

const operationTag = "#jepsen.history.Op"

// ReadEDN reads a history.edn of registers, compare-and-set, sets, or single appends. Histories of
// transactions are refused by the name of their workload.
func ReadEDN(file string, r io.Reader) ([]histories.Op, error) {
	p := &ednParser{
		parser: parser{file: file, open: map[int]int{}}, keys: map[string]int64{},
		processes: map[string]int{},
	}
	from := &source{Reader: r}
	in := bufio.NewReader(from)
	vector, err := startsVector(in)
	if err != nil && err != io.EOF {
		return nil, err
	}
	d := edn.NewDecoder(in)
	if vector {
		var all []any
		if err := d.Decode(&all); err != nil {
			return nil, p.unreadable(err, from.err)
		}
		for _, record := range all {
			if err := p.record(record); err != nil {
				return nil, err
			}
		}
		return p.end()
	}
	for {
		var record any
		switch err := d.Decode(&record); {
		case errors.Is(err, io.EOF):
			return p.end()
		case err != nil:
			return nil, p.unreadable(err, from.err)
		}
		if err := p.record(record); err != nil {
			return nil, err
		}
	}
}

func startsVector(in *bufio.Reader) (bool, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return false, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b == '[', in.UnreadByte()
		}
	}
}

// ednParser reads one history. Keys and processes are numbered as they come, where they are no
// numbers.
type ednParser struct {
	parser
	keys      map[string]int64
	processes map[string]int
	// low and high are the elements of a set, the last one excluded.
	low, high int64
	hasSet    bool
}

// source remembers what kept it from reading, which is no fault of the text.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != io.EOF {
		s.err = cmp.Or(s.err, err)
	}
	return n, err
}

func (p *ednParser) unreadable(err, unread error) error {
	if unread != nil {
		return unread
	}
	p.line++
	return p.refuse(fmt.Sprintf("operation %d is no EDN: %v", p.line, err),
		"copy the file again from where Jepsen wrote it")
}

// record takes one operation; those of the nemesis and of loggers are not of clients.
func (p *ednParser) record(value any) error {
	p.line++
	if tag, tagged := value.(edn.Tag); tagged {
		value = tag.Value
	}
	fields, isMap := value.(map[any]any)
	if !isMap {
		return p.refuse(fmt.Sprintf("%.60v is not an operation", value),
			"give a history.edn as Jepsen writes it")
	}
	process, ofClient := fields[edn.Keyword("process")].(int64)
	if !ofClient {
		return nil
	}
	kind, _ := fields[edn.Keyword("type")].(edn.Keyword)
	f, _ := fields[edn.Keyword("f")].(edn.Keyword)
	key, argument, err := p.operand(string(f), fields[edn.Keyword("value")])
	if err != nil {
		return err
	}
	if kind == "invoke" {
		return p.invoke(int(process), string(f), key, argument)
	}
	op, err := p.parser.end(int(process))
	if err != nil {
		return err
	}
	switch kind {
	case "ok":
		op.Outcome = histories.OK
		return p.answer(op, argument)
	case "fail":
		op.Outcome = histories.Failed
		if op.Kind == scenario.CAS {
			op.Outcome = histories.OK // it was carried out, and found another value
		}
	case "info":
	default:
		return p.refuse(fmt.Sprintf("the type %q is unknown", kind),
			"write :invoke, :ok, :fail or :info")
	}
	return nil
}

// transactional are the workloads that cannot be judged, with what they are called.
var transactional = map[string]string{
	"transfer": "bank", "txn": "transactions", "group-add": "set of groups", "dequeue": "queue",
	"enqueue": "queue", "acquire": "lock", "release": "lock", "inc": "counter",
}

// operand takes the key from a value, if it has one, and a transaction of one step apart.
func (p *ednParser) operand(f string, value any) (key int64, argument any, err error) {
	if workload := transactional[f]; workload != "" && f != "txn" {
		return 0, nil, p.refuse(
			fmt.Sprintf("it is a history of the workload %q (:f :%s)", workload, f),
			"give one of registers, compare-and-set, sets or single appends; nothing else can "+
				"be judged")
	}
	if f == "txn" {
		steps, _ := value.([]any)
		if len(steps) != 1 {
			return 0, nil, p.refuse(fmt.Sprintf("it has a transaction of %d steps", len(steps)),
				"give a history whose transactions have one step each; others cannot be judged")
		}
		step, _ := steps[0].([]any)
		if len(step) != 3 {
			return 0, nil, p.refuse(fmt.Sprintf("%v is no step of a transaction", steps[0]),
				"write [:append key value], [:r key list] or [:w key value]")
		}
		return p.key(step[1]), step, nil
	}
	if _, balances := value.(map[any]any); balances {
		return 0, nil, p.refuse("it is a history of the workload \"bank\": a read returns a map",
			"give one of registers, compare-and-set, sets or single appends; nothing else can "+
				"be judged")
	}
	if pair, isPair := value.([]any); isPair && len(pair) == 2 && f != "cas" && f != "read" ||
		isPair && len(pair) == 2 && f == "cas" && isTuple(pair[1]) || isPair && f == "read" &&
		len(pair) == 2 && !p.hasSet {
		return p.key(pair[0]), pair[1], nil
	}
	return 0, value, nil
}

func isTuple(value any) bool {
	pair, is := value.([]any)
	return is && len(pair) == 2
}

// key is the number of a key.
func (p *ednParser) key(value any) int64 {
	if n, number := value.(int64); number {
		return n
	}
	text := textOf(value)
	if _, known := p.keys[text]; !known {
		p.keys[text] = int64(len(p.keys))
	}
	return p.keys[text]
}

func textOf(value any) string { return fmt.Sprint(value) }

func (p *ednParser) invoke(process int, f string, key int64, argument any) error {
	op := histories.Op{Key: key}
	switch f {
	case "read", "r":
		op.Kind = scenario.Read
	case "write", "w":
		op.Kind, op.Value = scenario.Upsert, textOf(argument)
	case "cas":
		pair, isPair := argument.([]any)
		if !isPair || len(pair) != 2 {
			return p.refuse(fmt.Sprintf("a :cas of %v", argument), "write [old new]")
		}
		op.Kind, op.Expect, op.Value = scenario.CAS, textOf(pair[0]), textOf(pair[1])
	case "append":
		op.Kind, op.Value = scenario.Push, textOf(argument)
	case "add":
		return p.add(process, argument)
	case "txn":
		return p.step(process, key, argument.([]any))
	default:
		return p.refuse(fmt.Sprintf("the function :f :%s is unknown", f),
			"give a history of :read, :write, :cas, :add, :append or :txn")
	}
	if op.Kind.Writes() && (argument == nil || op.Value == "") {
		return p.refuse("a :"+f+" has no value", "correct the operation")
	}
	return p.call(process, op)
}

// add is an element of a set, which is a document of its own.
func (p *ednParser) add(process int, element any) error {
	n, number := element.(int64)
	if !number {
		return p.refuse(fmt.Sprintf("the element %v is no number", element),
			"give a set of numbers")
	}
	if !p.hasSet {
		p.low, p.high, p.hasSet = n, n+1, true
	}
	p.low, p.high = min(p.low, n), max(p.high, n+1)
	return p.call(process,
		histories.Op{Kind: scenario.Upsert, Key: n, Value: strconv.FormatInt(n, 10)})
}

// step is a transaction of one step.
func (p *ednParser) step(process int, key int64, step []any) error {
	name, _ := step[0].(edn.Keyword)
	if name != "append" && name != "r" && name != "w" {
		return p.refuse(fmt.Sprintf("the step %v is unknown", step[0]), "write :append, :r or :w")
	}
	return p.invoke(process, string(name), key, step[2])
}

// answer is what an operation returned.
func (p *ednParser) answer(op *histories.Op, argument any) error {
	if op.Kind != scenario.Read {
		op.Result = histories.Result{Applied: true, N: 1}
		return nil
	}
	if step, isStep := argument.([]any); isStep && len(step) == 3 {
		if name, named := step[0].(edn.Keyword); named && name == "r" {
			argument = step[2]
		}
	}
	elements, many := elementsOf(argument)
	switch {
	case argument == nil || many && len(elements) == 0 && !p.hasSet:
		return nil
	case p.hasSet && many:
		return p.setRead(op, elements)
	case many:
		op.Result = histories.Result{Found: true}
		for _, e := range elements {
			op.Result.List = append(op.Result.List, textOf(e))
		}
	default:
		op.Result = histories.Result{Found: true, Value: textOf(argument)}
	}
	return nil
}

func elementsOf(value any) ([]any, bool) {
	switch all := value.(type) {
	case []any:
		return all, true
	case map[any]bool:
		return slices.Collect(maps.Keys(all)), true
	}
	return nil, false
}

// setRead is a read of a whole set: a scan of all elements that there are, whose range is known
// only at the end of the history.
func (p *ednParser) setRead(op *histories.Op, elements []any) error {
	op.Kind, op.Result = scenario.Scan, histories.Result{Complete: true}
	for _, e := range elements {
		n, number := e.(int64)
		if !number {
			return p.refuse(fmt.Sprintf("the element %v is no number", e), "give a set of numbers")
		}
		p.low, p.high = min(p.low, n), max(p.high, n+1)
		op.Result.Items = append(op.Result.Items,
			histories.Item{Key: n, Value: strconv.FormatInt(n, 10), Return: op.Return})
	}
	slices.SortFunc(op.Result.Items,
		func(a, b histories.Item) int { return cmp.Compare(a.Key, b.Key) })
	return nil
}

// end gives what never returned its end, and reads of sets their range.
func (p *ednParser) end() ([]histories.Op, error) {
	if len(p.ops) == 0 {
		return nil, p.refuse("the file holds no operation of a client",
			"give a history.edn of Jepsen")
	}
	ops := p.finish()
	for i := range ops {
		switch op := &ops[i]; {
		case op.Kind == scenario.Scan:
			op.Key, op.To = p.low, p.high
		case p.hasSet && op.Kind == scenario.Read:
			op.Outcome = histories.Failed // a read of a set without an answer says nothing
		}
	}
	return ops, nil
}
