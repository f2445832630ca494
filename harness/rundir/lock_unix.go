//go:build unix

package rundir

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps everybody else from opening the journal until it is closed or the process ends, however it ends.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errInUse
	}
	return err
}
