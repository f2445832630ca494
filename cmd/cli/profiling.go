package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness/rundir"
)

// profiling writes profiles of the tool itself.
type profiling struct{ cpu, memory string }

func (p *profiling) flags(c *cobra.Command) {
	c.Flags().StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to a new file")
	c.Flags().StringVar(&p.memory, "memprofile", "", "write a memory profile to a new file")
}

// unlessKept is the end of a command, which could not keep something if unwritten is an error.
func unlessKept(err error, what string, unwritten error) error {
	if unwritten == nil {
		return err
	}
	unwritten = fmt.Errorf("%s could not be written: %w", what, unwritten)
	if err == nil {
		return &exitError{exitHarness, unwritten}
	}
	end := endOf(err)
	return &exitError{worseCode(end.code, exitHarness), errors.Join(end.err, unwritten)}
}

// start begins; the returned function ends it.
func (p *profiling) start() (stop func() error, err error) {
	var stops []func() error
	if p.cpu != "" {
		f, err := createNew(p.cpu)
		if err != nil {
			return nil, err
		}
		kept := &resultWriter{to: f} // the library looks at no error
		if err := pprof.StartCPUProfile(kept); err != nil {
			return nil, err
		}
		stops = append(stops, func() error {
			pprof.StopCPUProfile()
			return errors.Join(kept.err, f.Close())
		})
	}
	if p.memory != "" {
		f, err := createNew(p.memory)
		if err != nil {
			return nil, err
		}
		sampleMemory(sampleEvery)
		stops = append(stops, func() error {
			runtime.GC()
			return errors.Join(pprof.WriteHeapProfile(f), f.Close())
		})
	}
	return func() (failed error) {
		for _, stop := range stops {
			failed = errors.Join(failed, stop())
		}
		return failed
	}, nil
}

// createNew makes a new file; one that exists is an error, since nothing is overwritten.
func createNew(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, &rundir.ExistsError{Path: name}
	}
	return file, err
}
