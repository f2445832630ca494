//go:build !linux && !darwin

package active

import "fmt"

func limit(cpu, memory string) error {
	if cpu+memory != "" {
		return fmt.Errorf("%s and %s need Linux or macOS", CPU, Memory)
	}
	return nil
}

func share(string) error { return fmt.Errorf("%s needs Linux or macOS", Reached) }
