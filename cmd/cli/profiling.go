package cli

import (
	"errors"
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

// start begins; the returned function ends it.
func (p *profiling) start() (stop func(), err error) {
	var stops []func()
	if p.cpu != "" {
		f, err := createNew(p.cpu)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		stops = append(stops, pprof.StopCPUProfile, func() { f.Close() })
	}
	if p.memory != "" {
		f, err := createNew(p.memory)
		if err != nil {
			return nil, err
		}
		stops = append(stops, func() {
			runtime.GC()
			_ = pprof.WriteHeapProfile(f)
			f.Close()
		})
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
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
