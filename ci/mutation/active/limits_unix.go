//go:build linux || darwin

package active

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// limit bounds the CPU time and the memory of the process. The soft bound of CPU time is the hard
// one, so that the system kills the process at once instead of sending a signal that the Go runtime
// would answer.
func limit(cpu, memory string) error {
	for _, l := range []struct {
		resource   int
		name, text string
	}{{syscall.RLIMIT_CPU, CPU, cpu}, {syscall.RLIMIT_DATA, Memory, memory}} {
		if l.text == "" {
			continue
		}
		n, err := strconv.ParseUint(l.text, 10, 62)
		if err != nil {
			return fmt.Errorf("%s=%q is not a number", l.name, l.text)
		}
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("%s=%d is refused by the system: %w", l.name, n, err)
		}
	}
	return nil
}

// share maps the file in which reached mutants are noted, so that what is noted outlives the
// process however it ends.
func share(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	const access = syscall.PROT_READ | syscall.PROT_WRITE
	shared, err := syscall.Mmap(int(file.Fd()), 0, Most, access, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("%s=%s cannot be mapped: %w", Reached, path, err)
	}
	reached = (*[Most]byte)(shared)
	return nil
}
