package logs

// Dates is the log of a member of which the times of entries are asked.
type Dates struct {
	Member
	// Leads is the term in which the member leads its set, 0 when it does not.
	Leads uint64
}

// Term is that term.
func (d Dates) Term() uint64 { return d.Leads }

// At is the cluster time of an entry.
func (d Dates) At(term, index uint64) (time uint64, known bool) {
	e, of, known := d.Entry(index)
	if !known || of != term || e == nil {
		return 0, false
	}
	return uint64(e.TS), true
}
