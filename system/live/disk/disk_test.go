package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shardproof/shardproof/system/live/disk"
)

func open(t *testing.T, path string) *disk.Folder {
	t.Helper()
	f, err := disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestOneProcess: a folder is used by one at a time.
func TestOneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node")
	if disk.Locked(path) {
		t.Error("a folder that does not exist is in use")
	}
	f := open(t, path)
	if _, err := disk.Open(path); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second process: %v", err)
	}
	if !disk.Locked(path) {
		t.Error("a folder in use is not locked")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if disk.Locked(path) {
		t.Error("a closed folder is locked")
	}
	if err := f.Append("log", nil); err == nil {
		t.Error("a closed folder takes an append")
	}
}

// TestUnfinishedReplacement: what a crash leaves of a replacement is gone at the next start, and
// the old content is there.
func TestUnfinishedReplacement(t *testing.T) {
	path := t.TempDir()
	f := open(t, path)
	if err := f.Replace("snapshot", []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(path, "snapshot.new")
	if err := os.WriteFile(left, []byte("half of the n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f = open(t, path)
	defer f.Close()
	content, err := f.Read("snapshot")
	if err != nil || string(content) != "old" {
		t.Errorf("the content is %q: %v", content, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file is still there: %v", err)
	}
}

// TestFailsForGood: after an error nothing works, as nobody knows what is on the disk.
func TestFailsForGood(t *testing.T) {
	path := t.TempDir()
	f := open(t, path)
	defer f.Close()
	if err := os.Mkdir(filepath.Join(path, "log"), 0o700); err != nil {
		t.Fatal(err)
	}
	first := f.Append("log", []byte("x"))
	if first == nil {
		t.Fatal("a folder took an append")
	}
	if err := f.Replace("other", nil); !errors.Is(err, first) {
		t.Errorf("after %v came %v", first, err)
	}
}

// TestNames: no name leads out of the folder, or to what is not the node's.
func TestNames(t *testing.T) {
	f := open(t, t.TempDir())
	defer f.Close()
	for _, name := range []string{"", "../x", "a/b", ".lock", "snapshot.new"} {
		if f.Append(name, nil) == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	if err := f.Append("log", []byte("x")); err != nil {
		t.Errorf("a wrong name has effects: %v", err)
	}
}
