//go:build !linux

package processes

import (
	"errors"
	"syscall"
)

// attributes leave a child in a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func limitFiles(int, uint64) error {
	return errors.New("only Linux can limit the files of a running process")
}
