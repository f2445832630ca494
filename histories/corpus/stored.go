// Package corpus keeps scenarios that tell a story each: how a migration goes, and what once went
// wrong with one. The texts are scenarios as `shardproof replay` takes them.
//
// Promise: every text begins with a comment that says what it is about.
//
// Refusal: it runs nothing; a test of harness/runner plays every text.
package corpus

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.txt
var files embed.FS

// Story is one stored scenario.
type Story struct{ Name, Text string }

// Stories lists them by name.
func Stories() []Story {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(err)
	}
	var all []Story
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, Story{strings.TrimSuffix(e.Name(), ".txt"), string(text)})
	}
	return all
}
