package rundir

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes a file in place of the one that was there. A reader sees one or the other,
// also after a loss of power; once Replace has returned, the new one.
func Replace(path string, data []byte) error {
	draft, err := writeDraft(filepath.Dir(path), data)
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return syncPath(filepath.Dir(path))
}

// writeDraft writes a new file with a name of its own, which is for the caller to rename or remove.
func writeDraft(folder string, data []byte) (path string, err error) {
	draft, err := os.CreateTemp(folder, ".draft-")
	if err != nil {
		return "", err
	}
	_, err = draft.Write(data)
	if err := errors.Join(err, draft.Chmod(0o644), draft.Sync(), draft.Close()); err != nil {
		return "", errors.Join(err, os.Remove(draft.Name()))
	}
	return draft.Name(), nil
}

// syncPath brings a file, or the names in a folder, to the disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
