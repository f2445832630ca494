// Package suggest turns a name that nobody knows into a sentence that helps: it names the nearest
// known ones and the command that lists them all.
//
// Promise: a sentence names at most a few known names, nearest first, and none that is too far away
// to be meant.
//
// Refusal: it never takes a likely name for the one that was given.
package suggest

import (
	"fmt"
	"sort"
	"strings"

	"github.com/shardproof/shardproof/histories/scenario"
)

// most is how many suggestions one sentence carries.
const most = 3

// Unknown is the error for a name that is not among known. What is the kind of thing in the
// singular ("failpoint"), and list the word after `shardproof list` that prints them. A name that
// has changed is answered with the present one.
func Unknown(what, name string, known []string, list string) error {
	if err := scenario.OldName(what, name); err != nil {
		return err
	}
	near := Nearest(name, known)
	if len(near) == 0 {
		return fmt.Errorf("there is no %s %q; `shardproof list %s` names them all",
			what, name, list)
	}
	return fmt.Errorf("there is no %s %q; did you mean %s? `shardproof list %s` names them all",
		what, name, strings.Join(near, " or "), list)
}

// Nearest returns up to three known names that a slip of the keyboard, a forgotten prefix or a
// forgotten suffix turns into name, the nearest first.
func Nearest(name string, known []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	low := strings.ToLower(name)
	for _, k := range known {
		far := distance(low, strings.ToLower(k))
		if len(low) > 2 && strings.Contains(strings.ToLower(k), low) {
			far = 1
		}
		if far <= 2+len(low)/6 {
			found = append(found, candidate{k, far})
		}
	}
	sort.Slice(found, func(i, j int) bool {
		if found[i].far != found[j].far {
			return found[i].far < found[j].far
		}
		return found[i].name < found[j].name
	})
	var near []string
	for _, c := range found[:min(most, len(found))] {
		near = append(near, c.name)
	}
	return near
}

// distance counts the single-character changes that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
