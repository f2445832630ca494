// Package disk keeps the files of one node in a folder, so that they survive the end of the process
// and, as far as they were synced, the loss of power.
//
// Promise: what Sync covered is on stable storage, the folder's entry for the file included;
// Replace leaves the old or the new content whatever happens, the new one once it has returned.
// One process at a time uses a folder: a second is refused.
//
// Refusal: it does not run on after an error. What a failed fsync has left behind is unknown, so
// every later operation fails with the first error (a process that cannot store must end).
//
// A Folder's methods are called by one goroutine at a time.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// Folder is an open folder of files.
type Folder struct {
	path string
	lock *flock.Flock
	// open are the files being appended to; of those in fresh the folder's entry is not durable.
	open  map[string]*os.File
	fresh map[string]bool
	err   error
}

// lockFile is locked by the process that uses the folder; unfinished ends the name of a file that
// was to replace another one.
const (
	lockFile   = ".lock"
	unfinished = ".new"
)

// Locked reports whether a process uses the folder.
func Locked(path string) bool {
	if _, err := os.Stat(filepath.Join(path, lockFile)); err != nil {
		return false
	}
	lock := flock.New(filepath.Join(path, lockFile))
	free, err := lock.TryRLock()
	return errors.Join(err, lock.Unlock()) == nil && !free
}

// ErrLocked means that another process uses the folder.
var ErrLocked = errors.New("another process uses the folder")

// Open makes the folder if it is missing, and takes it for this process. ErrLocked is among the
// errors.
func Open(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(path, lockFile))
	switch held, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("folder %s cannot be locked: %w", path, err)
	case !held:
		return nil, fmt.Errorf("folder %s: %w", path, ErrLocked)
	}
	f := &Folder{path: path, lock: lock, open: map[string]*os.File{}, fresh: map[string]bool{}}
	if err := f.settle(); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return f, nil
}

// settle removes what a replacement left behind that did not get to its end, and makes durable that
// the folder itself exists.
func (f *Folder) settle() error {
	left, err := filepath.Glob(filepath.Join(f.path, "*"+unfinished))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return errors.Join(syncFolder(f.path), syncFolder(filepath.Dir(f.path)))
}

// Append adds p at the end of the file, which is made when it is missing.
func (f *Folder) Append(name string, p []byte) error {
	return f.do("append to", name, func() error {
		file, err := f.file(name)
		if err == nil {
			_, err = file.Write(p)
		}
		return err
	})
}

// Sync makes durable what was appended so far; it does nothing to a file that does not exist.
func (f *Folder) Sync(name string) error {
	return f.do("sync", name, func() error {
		_, err := os.Stat(filepath.Join(f.path, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		file, err := f.file(name)
		if err != nil {
			return err
		}
		if err := file.Sync(); err != nil || !f.fresh[name] {
			return err
		}
		delete(f.fresh, name)
		return syncFolder(f.path)
	})
}

// Replace sets the whole content.
func (f *Folder) Replace(name string, p []byte) error {
	return f.do("replace", name, func() error {
		if file := f.open[name]; file != nil {
			delete(f.open, name)
			delete(f.fresh, name)
			if err := file.Close(); err != nil {
				return err
			}
		}
		path := filepath.Join(f.path, name)
		if err := writeDurably(path+unfinished, p); err != nil {
			return err
		}
		if err := os.Rename(path+unfinished, path); err != nil {
			return err
		}
		return syncFolder(f.path)
	})
}

// Read returns the content, nil for a file that does not exist.
func (f *Folder) Read(name string) (content []byte, err error) {
	err = f.do("read", name, func() error {
		content, err = os.ReadFile(filepath.Join(f.path, name))
		if errors.Is(err, fs.ErrNotExist) {
			content, err = nil, nil
		}
		return err
	})
	return content, err
}

// Close lets another process use the folder. It syncs nothing.
func (f *Folder) Close() error {
	var all []error
	for _, file := range f.open {
		all = append(all, file.Close())
	}
	f.err = fs.ErrClosed
	return errors.Join(append(all, f.lock.Unlock())...)
}

// do carries out an operation, unless an earlier one has failed.
func (f *Folder) do(what, name string, op func() error) error {
	if f.err != nil {
		return f.err
	}
	if strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || name == "" ||
		strings.HasSuffix(name, unfinished) {
		return fmt.Errorf("%q is no name for a file of a node", name)
	}
	if err := op(); err != nil {
		f.err = fmt.Errorf("cannot %s %s: %w", what, filepath.Join(f.path, name), err)
	}
	return f.err
}

// file is the file being appended to.
func (f *Folder) file(name string) (*os.File, error) {
	if file := f.open[name]; file != nil {
		return file, nil
	}
	path := filepath.Join(f.path, name)
	_, err := os.Stat(path)
	f.fresh[name] = errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	f.open[name] = file
	return file, nil
}

func writeDurably(path string, p []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(p)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncFolder makes the entries of a folder durable.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
