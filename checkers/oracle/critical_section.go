package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// sectionRule is critical-section.
var sectionRule = verdict.Checker{
	Name: "critical-section",
	Promise: "While a primary blocks writes, for a migration or for a change of the whole " +
		"collection, no client's write takes effect on it; nor on the recipient of a migration, " +
		"from the donor's commit request until the config server has committed or finally refused. " +
		"A donor that is told of its commit blocks the collection until it has given up the " +
		"metadata by which its shard owns the range.",
	Signatures: verdict.Meanings{
		writeInSection: "a primary applied a client's write while it blocked writes",
		writeBeforeEnd: "a recipient applied a client's write before the outcome was final",
		writeOnDonor: "a donor applied a client's write of the range before the outcome was " +
			"final",
		leftAsOwner: "a donor stopped blocking writes although it knew of the commit, and still took " +
			"its shard for the owner",
	},
}

var _ = declare(60, sectionRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeSection}
})

// The signatures of writes inside a critical section.
const (
	writeInSection verdict.Signature = "write-during-critical-section"
	writeBeforeEnd verdict.Signature = "write-on-recipient-before-outcome"
	writeOnDonor   verdict.Signature = "write-on-donor-before-outcome"
	leftAsOwner    verdict.Signature = "released-as-owner"
)

func (o *Oracle) judgeSection(e *trace.Event) {
	if e.Kind != trace.Applied || e.Actor != trace.User || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	o.judgeRecipientSection(e)
	o.judgeOpenCommit(e)
	for _, held := range o.node(e.Node).sections {
		if held.ns == e.NS {
			o.report(sectionRule, verdict.Violation{
				Signature: writeInSection,
				NS:        e.NS,
				Key:       o.show(e.Key),
				Broke: fmt.Sprintf(
					"%s applied a client's write of key %s while it blocked writes",
					e.Node, o.show(e.Key),
				),
				Because: []string{
					fmt.Sprintf("writes have been blocked since step %d for %s",
						held.step, held.id),
				},
			}, held.step)
			return
		}
	}
}

// judgeRecipientSection: whatever becomes of its primaries, a recipient that has answered the donor
// blocks writes to the namespace until the outcome is final.
func (o *Oracle) judgeRecipientSection(e *trace.Event) {
	for _, id := range o.open {
		if m := o.moves[id]; m.to == e.Shard && m.ns == e.NS {
			o.report(sectionRule, verdict.Violation{
				Signature: writeBeforeEnd,
				NS:        e.NS,
				Key:       o.show(e.Key),
				Broke: fmt.Sprintf(
					"%s applied a client's write of key %s before the outcome of migration %s, "+
						"of which its shard is the recipient", e.Node, o.show(e.Key), id,
				),
				Because: []string{
					fmt.Sprintf("the donor asked the config server to commit at step %d", m.asked),
					"the config server has neither committed it since nor given the chunk a " +
						"version that makes the commit fail",
				},
			}, m.asked)
			return
		}
	}
}

// judgeOpenCommit: whatever the donor says of its critical section, a primary that has asked for
// the commit changes nothing of the range until the outcome is final. Its successor is the business
// of fences, which 4.2 has none of.
func (o *Oracle) judgeOpenCommit(e *trace.Event) {
	for _, id := range o.open {
		m := o.moves[id]
		if m.from != e.Shard || m.ns != e.NS || e.Key < m.min || e.Key >= m.max ||
			m.askedIn != e.Term {
			continue
		}
		o.report(sectionRule, verdict.Violation{
			Signature: writeOnDonor,
			NS:        e.NS,
			Key:       o.show(e.Key),
			Broke: fmt.Sprintf("%s applied a client's write of key %s, which migration %s is "+
				"taking away from its shard", e.Node, o.show(e.Key), id),
			Because: []string{
				fmt.Sprintf("it asked the config server to commit at step %d", m.asked),
				"the config server has neither committed it since nor given the chunk a version " +
					"that makes the commit fail",
			},
		}, m.asked)
		return
	}
}

// askCommit notes that the outcome of a migration is open from now on.
func (o *Oracle) askCommit(e *trace.Event) {
	if e.DonorState() != trace.DonorCommittingOnConfig || o.world.Set(e.Shard).Leader != e.Node ||
		o.refusedAlready(e) {
		return
	}
	m := o.move(e.Migration())
	m.asked, m.askedIn = e.Step, o.world.Set(e.Shard).Term
	if o.forbids[e.NS] {
		return
	}
	o.open = append(o.open, e.Migration())
}

// refusedAlready: the chunk was split or merged since the migration began, and its version keeps
// the commit out.
func (o *Oracle) refusedAlready(e *trace.Event) bool {
	return slices.ContainsFunc(o.world.Table(e.NS), func(c trace.Chunk) bool {
		return c.Min <= e.Min && e.Min < c.Max &&
			slices.ContainsFunc(e.Chunks, func(began trace.Chunk) bool {
				return c.Major > began.Major || c.Major == began.Major && c.Minor > began.Minor
			})
	})
}

// settle notes the catalog writes that end an open outcome: the commit, or any that makes the
// config server refuse it. While migrations are forbidden no outcome is open, and they are allowed
// again only after those that had begun are over.
func (o *Oracle) settle(w *model.Write) {
	if w.Refuses() || w.Is(trace.AllowsMigrations) || w.Before == nil {
		o.forbids[w.NS] = w.Forbids()
	}
	o.open = slices.DeleteFunc(o.open, func(id string) bool {
		m := o.moves[id]
		return m.ns == w.NS &&
			(w.Refuses() || slices.ContainsFunc(w.Chunks, func(c trace.Chunk) bool {
				return c.Min < m.max && m.min < c.Max
			}))
	})
}

// followSection notes when a primary blocks writes, and what a donor had at that moment: nothing
// may change it any more.
func (o *Oracle) followSection(e *trace.Event) {
	n, id := o.node(e.Node), e.Migration()
	if e.SectionState().Terminal() {
		o.judgeRelease(e)
		n.sections = slices.DeleteFunc(n.sections, func(h held) bool {
			return h.ns == e.NS && h.id == id
		})
		return
	}
	if slices.ContainsFunc(n.sections, func(h held) bool { return h.ns == e.NS && h.id == id }) {
		return
	}
	n.sections = append(n.sections, held{e.NS, id, e.Step})
	if e.Actor != trace.Donor {
		return
	}
	if m := o.move(id); m.blocked == 0 && m.max != "" && o.world.Set(e.Shard).Leader == e.Node {
		donor := o.world.Set(e.Shard)
		m.blocked, m.donor, m.history = e.Step, donor.Documents(e.NS, m.min, m.max), donor.History()
		m.term = donor.Term
	}
}

// CommitReturned notes that a request of a donor to commit has ended, and whether with the answer
// that the migration is committed.
func (o *Oracle) CommitReturned(node, migration string, committed bool) {
	m := o.move(migration)
	if committed {
		m.told = node
	}
	m.returned, m.returnedIn = o.step, o.world.Set(m.from).Term
}

// judgeRelease judges the metadata that a donor has once it stops blocking. It may have none: then
// the next request makes it refresh.
func (o *Oracle) judgeRelease(e *trace.Event) {
	m := o.moves[e.Migration()]
	if m == nil || e.Actor != trace.Donor || m.told != e.Node ||
		!holds(o.causes.of(e.Node).about(e.NS).chunks, m.min) {
		return
	}
	o.report(sectionRule, verdict.Violation{
		Signature: leftAsOwner, NS: e.NS,
		Broke: fmt.Sprintf("%s no longer blocks writes for migration %s", e.Node, m.id),
		Because: []string{fmt.Sprintf("the config server has told it of the commit, and by the "+
			"metadata that it has installed, %s owns %s", e.Shard, o.span(m.min, m.max))},
	})
}

// holdsSection reports whether the member that leads a donor holds the critical section of its
// migration. While none leads, the first successor of the term in which writes were blocked will
// read what is written now.
func (o *Oracle) holdsSection(donor, id string, term uint64) bool {
	set := o.world.Set(donor)
	leader := set.Leader
	if leader == "" || o.down[leader] && set.Term <= term {
		return true
	}
	return slices.ContainsFunc(o.node(leader).sections, func(h held) bool { return h.id == id })
}
