package migration

// account counts how a recipient migration ended and records in the changelog how long its steps
// took.
func (r *recipientMigration) account() {
	now, n := r.s.node.Mono(), r.s.shard.Statistics()
	if r.entered != 0 {
		n.RecipientSectionTime += now.Sub(r.entered)
	}
	if r.err != nil {
		n.RecipientFailed++
	} else {
		r.timing.lap(now)
	}
	if !r.recovered { // the steps were an earlier primary's
		r.s.logLater("moveChunk.to", r.start.NS, r.details(r.timing.outcome(r.err)...))
	}
}
