package checkers

import "math"

// ReadTimes holds reads that have no session's promise, and need not show the newest state, to the
// time that their answer names (K-READ).
var ReadTimes = Checker{
	Name: "read-times",
	Promise: "A read or scan of concern majority or local, in a session or not, on any member, " +
		"shows each key as it was at the cluster time that its answer names, or later.",
	Signatures: Meanings{
		readReplaced: "the value had been replaced or deleted before the time of the read",
		readMissing:  "the document was there at the time of the read, and nothing removed it",
	},
}

// The signatures of its violations.
const (
	readReplaced Signature = "read-replaced-value"
	readMissing  Signature = "read-missing-document"
)

var _ = declare(75, &ReadTimes, func(h *history) Verdict { return h.judgeTimes().reads })

// judgeReadTime looks at every key of a read that was told since when it looked. What a read of
// concern local shows may be rolled back and happen again later than the time of its answer, so
// there a removal of any later time explains that nothing was found.
func (c *clusterTimes) judgeReadTime(i int) {
	op := &c.ops[i]
	c.reads.Checked++
	if op.Since == 0 {
		return
	}
	to := op.Time
	if op.Concern == "local" {
		to = math.MaxUint64
	}
	c.each(i, max(op.Since, c.begun), to, c.checkReadTime)
}

func (c *clusterTimes) checkReadTime(v view) {
	why := "the read saw no state from before " + moment(v.from)
	if newer, ok := c.newer(v); ok {
		c.reads.Add(c.told(readReplaced, v, why, newer))
	}
	if there, ok := c.missing(v); ok {
		c.reads.Add(c.told(readMissing, v, why, there))
	}
}
