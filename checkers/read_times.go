package checkers

import "math"

// ReadTimes holds reads to the time that their answer names, those with no session's promise, and
// those that must show the newest state while it changes (K-READ).
var ReadTimes = Checker{
	Name: "read-times",
	Promise: "A read or scan with any read concern except available and snapshot, in a session " +
		"or not, on any member, shows each key as it was at the cluster time that its " +
		"answer names, or later.",
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

// judgeReadTime looks at every key of a read that was told since when it looked. What is read at no
// majority's time may happen later than the time of the answer, so there a removal of any later
// time explains that nothing was found.
func (c *clusterTimes) judgeReadTime(i int) {
	times := c.ops.Times(i)
	c.reads.Checked++
	if times.Since == 0 {
		return
	}
	to := times.Time
	if c.formOf(i).Concern != "majority" {
		to = math.MaxUint64
	}
	c.each(i, times.Since, to, c.checkReadTime)
}

func (c *clusterTimes) checkReadTime(v view) {
	if v.line != nil {
		v.from = max(v.from, v.line.begun)
	}
	why := func() string { return "the read saw no state from before " + moment(v.from) }
	if newer := c.newer(v); newer != nil {
		c.reads.Add(c.contradicts(readReplaced, v, why(), newer))
	}
	if there := c.missing(v); there != nil {
		c.reads.Add(c.contradicts(readMissing, v, why(), there))
	}
}
