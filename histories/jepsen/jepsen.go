// Package jepsen reads histories that others recorded: the register logs of Jepsen's etcd tests,
// the histories in EDN that Jepsen writes, the key-value histories of the public data set of
// linearizability checkers, and porcupine's operations as JSON.
//
// Promise: every line is understood or refused with its place; the operations mean to the checkers
// what they meant to their authors. Identities in these histories may repeat, which only
// searching copes with.
//
// Refusal: workloads for which there is no checker, such as transactions of several steps, are
// refused by name.
package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/shardproof/shardproof/histories"
)

// NS is the namespace of all operations.
const NS = "jepsen.history"

// Reader reads a history of one form; file stands for the source in errors, which are of type
// *histories.FileError unless r fails.
type Reader func(file string, r io.Reader) ([]histories.Op, error)

// Recognise is the reader of a history that begins so; nil when it has none of these forms.
func Recognise(head []byte) Reader {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	line = bytes.TrimRight(line, " \t\r")
	switch {
	case registerLine.Match(line) || kvLine.Match(line):
		return Read
	case isEDN(head):
		return ReadEDN
	case isPorcupine(head):
		return ReadPorcupine
	}
	return nil
}

// longestLine is how long a line may be.
const longestLine = 1 << 24

// Read reads a log of either kind. Call and Return are numbers of lines.
func Read(file string, r io.Reader) ([]histories.Op, error) {
	p := parser{
		file: file, open: map[int]int{},
		kv: kv{puts: map[put]bool{}, words: map[int64]map[string]bool{}},
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
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
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		p.line++
		return nil, p.refuse(fmt.Sprintf("the line has more than %d bytes", longestLine),
			"give a history as Jepsen writes it")
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(p.ops) == 0 {
		return nil, p.refuse("the file holds no operation", "give a history as Jepsen writes it")
	}
	ops := p.finish()
	return ops, p.kv.explain(&p)
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

// finish gives what never ended a line behind the last as its end.
func (p *parser) finish() []histories.Op {
	for i := range p.ops {
		if p.ops[i].Return == 0 {
			p.ops[i].Return = uint64(p.line + 1)
		}
	}
	return p.ops
}
