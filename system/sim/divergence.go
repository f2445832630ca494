package sim

import (
	"bufio"
	"bytes"
	"io"
)

// Replayable is a run that can be made again: it makes a world with this Trace and Window, runs it
// to its end and returns its Checkpoints and last Hash.
type Replayable func(out io.Writer, window Window) (checkpoints []uint64, hash uint64)

// Difference is the first step in which two runs differ, as each run describes it. A line is empty
// when that run was over.
type Difference struct {
	Line int
	A, B string
}

// FirstDifference finds where two runs part: it compares their checkpoints and makes both again,
// with text, from the last one that they share. It reports false when the runs are equal. When the
// texts are equal although the hashes are not, the lines are empty.
func FirstDifference(a, b Replayable) (Difference, bool) {
	marksA, hashA := a(nil, Window{})
	marksB, hashB := b(nil, Window{})
	shared := 0
	for shared < min(len(marksA), len(marksB)) && marksA[shared] == marksB[shared] {
		shared++
	}
	if hashA == hashB && shared == len(marksA) && shared == len(marksB) {
		return Difference{}, false
	}
	window := Window{From: uint64(shared)*markEvery + 1, To: uint64(shared+1) * markEvery}
	var textA, textB bytes.Buffer
	a(&textA, window)
	b(&textB, window)
	return firstLine(&textA, &textB), true
}

func firstLine(a, b io.Reader) Difference {
	linesA, linesB := bufio.NewScanner(a), bufio.NewScanner(b)
	for n := 1; ; n++ {
		moreA, moreB := linesA.Scan(), linesB.Scan()
		if !moreA && !moreB {
			return Difference{}
		}
		if linesA.Text() != linesB.Text() {
			return Difference{n, linesA.Text(), linesB.Text()}
		}
	}
}
