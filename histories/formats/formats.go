// Package formats reads a history whatever form it has: shardproof's own, packed or not, or one of
// those that Jepsen's tests leave.
//
// Promise: the form is told by what the file holds, not by its name; what is returned is a history
// as package wellformed defines it.
//
// Refusal: no form is guessed. A file of none is refused as one that is not shardproof's.
package formats

import (
	"bufio"
	"io"
	"os"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/jepsen"
	"github.com/shardproof/shardproof/histories/wellformed"
)

// recognised is how much of a file tells its form.
const recognised = 1 << 16

// Read reads the file at that path, of at most so many bytes, unpacked; 0 for any. Errors are of
// type *histories.FileError unless the file cannot be opened or read.
func Read(path string, most int64) ([]histories.Op, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, recognised)
	head, err := in.Peek(recognised)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if jepsen.Recognise(head) {
		return jepsen.Read(path, in)
	}
	_, ops, err := histories.ReadSized[histories.Op](path, in,
		histories.Extent{Size: histories.SizeOf(f), Most: most})
	if err != nil {
		return nil, err
	}
	return ops, wellformed.CheckFile(path, ops)
}
