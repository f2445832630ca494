package mutants

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// activePath is the package that the copies ask.
const activePath = "github.com/shardproof/shardproof/ci/mutation/active"

// insertion is one end of an edit.
type insertion struct {
	at     int
	text   string
	span   int
	rank   int
	suffix bool
}

// copied is the file with all its mutants in it. Every line stays on its line unless a mutant
// repeats a longer statement.
func (f *File) copied() []byte {
	var all []insertion
	imports := map[string]string{alias: activePath}
	once := map[edit]bool{}
	for _, m := range f.Mutants {
		for alias, path := range m.imports {
			imports[alias] = path
		}
		for _, e := range m.edits {
			if e.shared && once[e] {
				continue
			}
			once[e] = e.shared
			all = append(all, e.ends(m.Number)...)
		}
	}
	slices.SortStableFunc(all, order)
	return f.assemble(all, imports)
}

func (e edit) ends(n int) []insertion {
	fill := func(text string) string { return strings.ReplaceAll(text, number, strconv.Itoa(n)) }
	ends := make([]insertion, 0, 2)
	if e.pre != "" {
		ends = append(ends, insertion{e.from, fill(e.pre), e.to - e.from, e.rank, false})
	}
	if e.post != "" {
		ends = append(ends, insertion{e.to, fill(e.post), e.to - e.from, e.rank, true})
	}
	return ends
}

// order puts suffixes before prefixes at one place, inner suffixes first and outer prefixes first.
func order(a, b insertion) int {
	switch {
	case a.at != b.at:
		return cmp.Compare(a.at, b.at)
	case a.suffix != b.suffix:
		return map[bool]int{true: -1, false: 1}[a.suffix]
	case a.suffix:
		return cmp.Or(cmp.Compare(a.span, b.span), cmp.Compare(a.rank, b.rank))
	}
	return cmp.Or(cmp.Compare(b.span, a.span), cmp.Compare(b.rank, a.rank))
}

// assemble writes the source with the insertions, and imports what they need on the line of the
// package clause.
func (f *File) assemble(all []insertion, imports map[string]string) []byte {
	var out bytes.Buffer
	last := 0
	for _, i := range all {
		out.Write(f.Source[last:i.at])
		out.WriteString(i.text)
		last = i.at
	}
	out.Write(f.Source[last:])
	return f.withImports(out.Bytes(), imports)
}

func (f *File) withImports(source []byte, imports map[string]string) []byte {
	var head strings.Builder
	for _, name := range sortedKeys(imports) {
		fmt.Fprintf(&head, "; import %s %q", name, imports[name])
	}
	tail := fmt.Sprintf("\nvar _ = %s.On\n", alias)
	return slices.Concat(source[:f.head], []byte(head.String()), source[f.head:], []byte(tail))
}

func sortedKeys(of map[string]string) []string {
	var all []string
	for name := range of {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
