// Package formats reads histories in several formats: shardproof's own, packed or not, one of those
// that Jepsen's tests leave, or porcupine's operations.
//
// Promise: the form is told by what the file holds, not by its name; what is returned of
// shardproof's own is a history as package wellformed defines it.
//
// Refusal: no format is guessed. A file in none of them is refused, with a list of the formats.
package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/jepsen"
	"github.com/shardproof/shardproof/histories/wellformed"
)

// recognised is how many bytes of a file are read to recognise its format.
const recognised = 1 << 16

// Limits bound what reading may cost; the zero Limits do not.
type Limits struct {
	// Bytes is how many bytes a file may have, unpacked; 0 for any.
	Bytes int64
	// Stop is called repeatedly while a file is read, and its error ends the reading; nil is never
	// called.
	Stop func() error
}

// Read reads the file at that path. Errors are of type *histories.FileError unless the file cannot
// be opened or read, or Stop says so.
func Read(path string, limits Limits) (ops []histories.Op, err error) {
	err = Each(path, limits, func(op *histories.Op) { ops = append(ops, *op) })
	return ops, err
}

// Each is Read of a history that is too long to have all operations at a time: it hands them over
// one by one, each in the same place. Only what ends without an error is a history.
func Each(path string, limits Limits, take func(*histories.Op)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(&stoppable{f, limits.Stop}, recognised)
	head, err := in.Peek(recognised)
	if err != nil && err != io.EOF {
		return err
	}
	if foreign := jepsen.Recognise(head); foreign != nil {
		ops, err := foreign(path, &bounded{in, path, limits.Bytes, limits.Bytes})
		for i := range ops {
			take(&ops[i])
		}
		return err
	}
	err = eachOwn(path, in, limits, take)
	if file := (*histories.FileError)(nil); errors.As(err, &file) && file.Foreign {
		return &histories.FileError{
			File: path, Line: 1, Wrong: "this is no history in a form that is known",
			Remedy: "give " + Forms,
		}
	}
	return err
}

// eachOwn reads a history of shardproof. What is wrong with a line comes before what is wrong with
// the operations.
func eachOwn(path string, in io.Reader, limits Limits, take func(*histories.Op)) error {
	r, err := histories.NewReader[histories.Op](path, in)
	if err != nil {
		return err
	}
	r.Most = limits.Bytes
	var (
		wellFormed wellformed.Checking
		op         histories.Op
	)
	for {
		switch err := r.Read(&op); err {
		case nil:
			wellFormed.Add(&op)
			take(&op)
		case io.EOF:
			return wellFormed.ErrIn(path)
		default:
			return err
		}
	}
}

// Forms names the forms that Read reads.
const Forms = "a history of shardproof (history.ndjson.zst or plain NDJSON), a log of Jepsen's " +
	"etcd test, a history.edn of Jepsen (registers, compare-and-set, sets, single appends), a " +
	"key-value history of the public data set, or porcupine's key-value operations as JSON"

// bounded is a source with a limit of bytes; 0 for none.
type bounded struct {
	io.Reader
	file       string
	left, most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.most > 0 && b.left < 0 {
		return 0, &histories.FileError{
			File: b.file, Wrong: fmt.Sprintf("the file has more than %d bytes", b.most),
			Remedy: "raise the limit, --max-bytes",
		}
	}
	return n, err
}

// stoppable is a source that ends with an error when it is told to.
type stoppable struct {
	io.Reader
	stop func() error
}

func (s *stoppable) Read(p []byte) (int, error) {
	if s.stop != nil {
		if err := s.stop(); err != nil {
			return 0, err
		}
	}
	return s.Reader.Read(p)
}
