package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/live/eventlog"
	"github.com/shardproof/shardproof/system/live/process"
)

func newNode() *cobra.Command {
	var verbose bool
	c := &cobra.Command{
		Use:   "node FILE",
		Short: "run one node in the foreground, from its configuration file",
		Long: `Runs one node until SIGTERM, on which a primary steps down first, or SIGINT, which
ends it at once. It logs to standard error, one JSON object per line.`,
		Args: one("the configuration file of a node (node.json)"),
		RunE: failing(func(c *cobra.Command, args []string) error {
			cfg, err := process.Load(args[0])
			if err != nil {
				return err
			}
			return run(cfg, verbose)
		}),
	}
	c.Flags().BoolVar(&verbose, "verbose", false, "also log what helps with debugging")
	return c
}

func run(cfg *process.Config, verbose bool) error {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		if <-signals == os.Interrupt {
			cancel(process.ErrAtOnce)
			return
		}
		cancel(nil)
	}()
	err := process.Run(ctx, cfg, process.Options{Log: log, ServeClients: serveClients})
	if err != nil {
		log.Error("the process ends", "why", err)
	}
	return err
}

func newEvents() *cobra.Command {
	return &cobra.Command{
		Use:   "events FOLDER",
		Short: "print the newest events that a node has recorded, one JSON object per line",
		Args:  one("the folder of a node"),
		RunE: failing(func(c *cobra.Command, args []string) error {
			out := bufio.NewWriter(c.OutOrStdout())
			folder := filepath.Join(args[0], process.EventsFolder)
			if _, err := os.Stat(folder); err != nil {
				return &failure{exitUsage, fmt.Errorf("%s is not the folder of a node, such as "+
					"CLUSTER/nodes/shard-a.0: it holds no folder %q", args[0],
					process.EventsFolder)}
			}
			err := eventlog.Read(folder, func(incarnation int, e *trace.Event) error {
				line, err := json.Marshal(struct {
					Incarnation int          `json:"incarnation"`
					Event       *trace.Event `json:"event"`
				}{incarnation, e})
				if err != nil {
					return err
				}
				_, err = out.Write(append(line, '\n'))
				return err
			})
			if err != nil {
				return err
			}
			return out.Flush()
		}),
	}
}
