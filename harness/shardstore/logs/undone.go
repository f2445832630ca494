package logs

import "fmt"

// Undone says that the entry that a task wrote in a term is no longer in its member's log. The log
// may still reach that index: a member that is deposed and elected again writes others there. It is
// empty if the entry is there, if index is 0, or if the log does not reach back so far.
func Undone(m Member, term, index uint64) string {
	_, now, there := m.Entry(index)
	last := m.Applied()
	if index == 0 || there && now == term || !there && index <= last.Index {
		return ""
	}
	return fmt.Sprintf("it wrote entry %d in term %d, and that has been undone since: its log ends "+
		"with entry %d of term %d", index, term, last.Index, last.Term)
}
