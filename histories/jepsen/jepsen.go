// Package jepsen reads histories that others recorded: the register logs of Jepsen's etcd tests and
// the key-value histories of the public data set of linearizability checkers.
//
// Promise: every line is understood or refused with its place; the operations mean to the checkers
// what they meant to their authors. Identities in these histories may repeat, which only
// searching copes with.
package jepsen

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/shardproof/shardproof/histories"
)

// NS is the namespace of all operations.
const NS = "jepsen.history"

// Recognise says whether the text is a history that this package reads.
func Recognise(text []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
	return registerLine.Match(line) || kvLine.Match(line)
}

// Read reads a history of either kind; file stands for the source in errors, which are of type
// *histories.FileError unless r fails. Call and Return are numbers of lines.
func Read(file string, r io.Reader) ([]histories.Op, error) {
	p := parser{file: file, open: map[int]int{}, kv: kv{puts: map[put]bool{}}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		p.line++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := p.take(text); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(p.ops) == 0 {
		return nil, p.refuse("the file holds no operation", "give a history as Jepsen writes it")
	}
	return p.finish(), nil
}

// parser reads one history. Each process has at most one operation in progress, open by process.
type parser struct {
	file string
	line int
	ops  []histories.Op
	open map[int]int
	kv   kv
}

func (p *parser) take(text []byte) error {
	if m := registerLine.FindSubmatch(text); m != nil {
		return p.register(m)
	}
	if m := kvLine.FindSubmatch(text); m != nil {
		return p.keyValue(m)
	}
	return p.refuse(fmt.Sprintf("%.60q is not an operation", text),
		"give a history as Jepsen writes it, one operation a line")
}

func (p *parser) refuse(wrong, remedy string) error {
	return &histories.FileError{File: p.file, Line: p.line, Wrong: wrong, Remedy: remedy}
}

// call starts an operation of a process.
func (p *parser) call(process int, op histories.Op) error {
	if _, busy := p.open[process]; busy {
		return p.refuse(fmt.Sprintf("process %d starts an operation before its last one has ended",
			process), "correct the line")
	}
	op.ID, op.Client, op.NS, op.Call, op.Outcome = len(p.ops), process, NS, uint64(p.line),
		histories.Unknown
	p.open[process] = op.ID
	p.ops = append(p.ops, op)
	return nil
}

// end ends the operation of a process.
func (p *parser) end(process int) (*histories.Op, error) {
	i, busy := p.open[process]
	if !busy {
		return nil, p.refuse(fmt.Sprintf("process %d ends an operation that it has not started",
			process), "correct the line")
	}
	delete(p.open, process)
	p.ops[i].Return = uint64(p.line)
	return &p.ops[i], nil
}

// finish gives what never ended the last line as its end, and reads its full meaning into what did.
func (p *parser) finish() []histories.Op {
	for i := range p.ops {
		if p.ops[i].Return == 0 {
			p.ops[i].Return = uint64(p.line)
		}
	}
	p.kv.explain(p.ops)
	return p.ops
}
