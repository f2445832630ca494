package main

import (
	"bytes"
	"os"
	"testing"
)

// TestReadme: the exact counts in README.md are those of the build.
func TestReadme(t *testing.T) {
	const root = "../.."
	table, err := figures(root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := renew(page, table)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, renewed) {
		t.Errorf("README.md has other counts; `make figures` writes\n%s", table)
	}
}
