package migration

import "github.com/shardproof/shardproof/system/errcode"

// account counts how a donor migration ended in the state that it had reached, and records in the
// changelog how long its steps took.
func (d *donorMigration) account(reached donorState, err error) {
	s, now := d.s, d.s.node.Mono()
	if s.donor != d { // the term is over: the counters are another primary's by now
		return
	}
	n := s.shard.Statistics()
	n.DonorTime += now.Sub(d.began)
	if laps := d.timing.laps; len(laps) >= 4 { // S3 and S4
		n.DonorCloneTime += laps[2] + laps[3]
	}
	switch {
	case reached == donorDone:
		n.DonorCommitted++
	case reached == donorCommittingOnConfig, d.record.Decision == decisionUnknown:
		n.CommitUncertain++
	default:
		n.DonorAborted++
	}
	switch errcode.Of(err) {
	case errcode.ChunkTooBig:
		n.TooBig++
	case errcode.ExceededMemoryLimit:
		n.MemoryExceeded++
	case errcode.LockTimeout:
		n.LockTimeouts++
	}
	what := "moveChunk.from"
	if err != nil {
		what = "moveChunk.error"
	}
	s.logLater(what, d.record.NS, d.details(d.timing.outcome(err)...))
}

// accountSection counts the time for which users had to wait.
func (d *donorMigration) accountSection() {
	now, n := d.s.node.Mono(), d.s.shard.Statistics()
	if d.blocked != 0 {
		n.SectionTime += now.Sub(d.blocked)
	}
	if d.committing != 0 {
		n.CommitTime += now.Sub(d.committing)
	}
	d.blocked, d.committing = 0, 0
}
