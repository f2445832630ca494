// Command driversuite runs the tests of MongoDB's own Go driver against a cluster and compares what
// fails with the list of what is expected to fail.
//
// Usage:
//
//	go run ./ci/driversuite [-uri mongodb://…] [-run REGEXP] [-list]
//
// Without an address it starts a simulated cluster. Nothing but Go modules is fetched. Any
// difference from expected.txt, in either direction, is a failure: exit code 1. Exit code 2 means
// that the tests could not be run.
//
// Promise: a test that is missing from expected.txt must pass, and one that is listed there must
// fail.
//
// Refusal: it changes neither the driver nor its tests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/shardproof/shardproof/system/wire/wiretest"
)

func main() {
	uri := flag.String("uri", "", "address of a `deployment`; empty starts a simulated one")
	only := flag.String("run", "", "only the folders whose name contains the `text`")
	list := flag.Bool("list", false, "print every test that failed with its message")
	limit := flag.Duration("limit", 15*time.Minute, "for how long a folder may run")
	flag.Parse()
	same, err := run(*uri, *only, *list, *limit)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "driversuite:", err)
		os.Exit(2)
	case !same:
		os.Exit(1)
	}
}

func run(uri, only string, list bool, limit time.Duration) (same bool, err error) {
	want, err := readExpected()
	if err != nil {
		return false, err
	}
	if uri == "" {
		_, address, stop, err := wiretest.Start(nil)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		uri = address
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := build(ctx)
	if err != nil {
		return false, err
	}
	return s.judge(ctx, uri, only, list, want)
}
