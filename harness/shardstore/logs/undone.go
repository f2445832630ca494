package logs

import "fmt"

// Undone says that what a task wrote in a term is no longer in its member's log, which may be as
// long: a member that is deposed and elected again writes other entries in its place. Empty if it is
// there, for an index of 0, or if the log does not reach back so far.
func Undone(m Member, term, index uint64) string {
	_, now, there := m.Entry(index)
	last := m.Applied()
	if index == 0 || there && now == term || !there && index <= last.Index {
		return ""
	}
	return fmt.Sprintf("it wrote entry %d in term %d, and that has been undone since: its log ends "+
		"with entry %d of term %d", index, term, last.Index, last.Term)
}
