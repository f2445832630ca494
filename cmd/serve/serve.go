// Package serve is the part of the command line that shows the runs below a folder in a browser:
// failures by signature, nights over time, search, and two runs side by side.
//
// Promise: it listens on this machine only, answers only requests that are addressed to it by a
// name of this machine, and changes nothing in the folder. Names and texts of the folder are text
// on its pages; pages of runs are shown without rights to anything else.
//
// Refusal: it judges nothing, and keeps nothing but an index that can be thrown away.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/serve/archive"
)

// The exit codes, besides 0.
const (
	exitFailed = 4
	exitUsage  = 64
)

// failure is an error with its exit code.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// ExitCode is what the program ends with.
func (f *failure) ExitCode() int { return f.code }

// New returns the command.
func New() *cobra.Command {
	port, index := 0, ""
	c := &cobra.Command{
		Use:   "serve FOLDER",
		Short: "show the runs and nights below a folder in a browser on this machine",
		Long: `Serve reads every kept run, memory and night below a folder and shows them in a
browser: failures by signature, trends over nights, search, and two runs side by side. It listens on
127.0.0.1 only, and changes nothing in the folder.

What it shows comes from an index, an SQLite database in memory or in the file of --index. The index
is made from the folder at the start, and again for a page that is older than ten seconds; it can be
thrown away at any time.`,
		Example: "  shardproof serve out/nightly\n  shardproof serve --port 8080 out",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &failure{exitUsage, errors.New("serve needs one folder")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return serve(c, args[0], index, port)
		},
	}
	c.Flags().IntVar(&port, "port", 0, "the port; 0 for any that is free")
	c.Flags().StringVar(&index, "index", "",
		"the file of the index, which is replaced (default: the index is kept in memory)")
	return c
}

// graceful is how long requests may take to end.
const graceful = 2 * time.Second

func serve(c *cobra.Command, folder, index string, port int) error {
	a, err := archive.Open(c.Context(), folder, index)
	if err != nil {
		return &failure{exitUsage, fmt.Errorf("the folder cannot be shown: %w", err)}
	}
	s := &site{folder: folder, index: index, archive: a, made: time.Now()}
	defer s.close()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return &failure{exitFailed, err}
	}
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: graceful}
	fmt.Fprintf(c.OutOrStdout(), "http://%s/\n", listener.Addr())
	go func() {
		<-c.Context().Done()
		ctx, cancel := context.WithTimeout(context.Background(), graceful)
		defer cancel()
		_ = server.Shutdown(ctx)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return &failure{exitFailed, err}
	}
	return nil
}
