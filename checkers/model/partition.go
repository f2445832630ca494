package model

import "fmt"

// The bounds of the key space, as system/key encodes MinKey and MaxKey.
const (
	lowestKey  = "\x00"
	highestKey = "\xff"
)

// Flaw says what keeps the chunks from covering the key space exactly once, or nothing. span turns
// a range of encoded keys into text for people.
func (t Table) Flaw(span func(lo, hi string) string) string {
	if len(t) == 0 {
		return "there are no chunks"
	}
	first, last := t[0].Min, t[len(t)-1].Max
	if first != lowestKey || last != highestKey {
		return fmt.Sprintf("the chunks cover only %s", span(first, last))
	}
	for i, c := range t {
		switch {
		case c.Min >= c.Max:
			return fmt.Sprintf("the chunk %s is empty", span(c.Min, c.Max))
		case i > 0 && t[i-1].Max != c.Min:
			before := span(t[i-1].Min, t[i-1].Max)
			return fmt.Sprintf("the chunk %s is followed by %s", before, span(c.Min, c.Max))
		}
	}
	return ""
}

// ShowKey is an encoded key for people who have nothing better: its bytes, or the name of a bound.
func ShowKey(k string) string {
	switch k {
	case lowestKey:
		return "MinKey"
	case highestKey:
		return "MaxKey"
	}
	return fmt.Sprintf("%x", k)
}
