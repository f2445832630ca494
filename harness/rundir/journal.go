package rundir

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gofrs/flock"

	"github.com/shardproof/shardproof/histories"
)

// Journal is what a long search has found out so far, a line each, in a file that grows. A search
// which is interrupted at any moment opens its journal again and goes on.
type Journal struct {
	file *os.File
	lock *flock.Flock
	// Lines are those that were there when the journal was opened.
	Lines []string
	err   error
}

// OtherSearchError refuses a journal that belongs to another search: the user has named the wrong
// folder.
type OtherSearchError struct{ histories.FileError }

// OpenJournal opens the journal at path, or begins it with the title, which says what search it
// belongs to. A journal with another title is refused with an *OtherSearchError and left as it is.
// So is one that another process has open. A last line that was not written to its end is
// forgotten.
func OpenJournal(path, title string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: file, lock: flock.New(path+".lock", flock.SetPermissions(0o644))}
	mine, err := j.lock.TryLock()
	if err == nil && !mine {
		err = &histories.FileError{
			File:   path,
			Wrong:  "another process is using it",
			Remedy: "wait for its end or choose another folder",
		}
	}
	if err == nil {
		err = j.read(path, title)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), j.lock.Unlock())
	}
	return j, nil
}

func (j *Journal) read(path, title string) error {
	var whole int64
	for in := bufio.NewReader(j.file); ; {
		text, err := in.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		whole += int64(len(text))
		j.Lines = append(j.Lines, strings.TrimSuffix(text, "\n"))
	}
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.file.Seek(whole, io.SeekStart); err != nil {
		return err
	}
	if len(j.Lines) == 0 {
		j.Append(title)
		return j.err
	}
	if j.Lines[0] != title {
		return &OtherSearchError{histories.FileError{
			File:   path,
			Line:   1,
			Wrong:  fmt.Sprintf("this is the journal of a different command: %q", j.Lines[0]),
			Remedy: "move it away or choose another folder",
		}}
	}
	j.Lines = j.Lines[1:]
	return nil
}

// Keep forgets all lines but the first n of Lines.
func (j *Journal) Keep(n int) error {
	if n >= len(j.Lines) || j.err != nil {
		return j.err
	}
	var gone int64
	for _, line := range j.Lines[n:] {
		gone += int64(len(line)) + 1
	}
	end, err := j.file.Seek(0, io.SeekEnd)
	if err == nil {
		err = j.file.Truncate(end - gone)
	}
	if err == nil {
		_, err = j.file.Seek(end-gone, io.SeekStart)
	}
	j.Lines, j.err = j.Lines[:n], err
	return err
}

// Append adds a line. An error stays until Close.
func (j *Journal) Append(line string) {
	if j.err == nil {
		_, j.err = j.file.WriteString(line + "\n")
	}
}

// Err is the first error of Append or Sync.
func (j *Journal) Err() error { return j.err }

// Sync brings everything to the disk, where it outlives a loss of power. Without it a line outlives
// the process only.
func (j *Journal) Sync() error {
	if j.err == nil {
		j.err = j.file.Sync()
	}
	return j.err
}

// Close ends the journal, all of it on the disk, and tells the first error.
func (j *Journal) Close() error {
	return errors.Join(j.Sync(), j.file.Close(), j.lock.Unlock())
}
