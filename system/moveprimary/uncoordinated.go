package moveprimary

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/shard"
)

// runUncoordinated is the move of 4.2, by the primary that was asked and nobody after it
// (MovePrimarySourceManager, protocol 15). Nothing of it is durable here but that a commit is in
// progress, nobody fences it, writes go on while it copies and no session moves along. So a write
// during the copy is lost (H-74a), one that is retried after the move is executed twice (H-74c),
// and a failover leaves a copy on either side that no later move gets past.
func (m *primaryMove) runUncoordinated(t env.Task) {
	err := m.moveUncoordinated(t)
	m.serving = false
	if m.over { // with its term
		return
	}
	m.leaveSections()
	if err != nil {
		m.announce(trace.PrimaryAborted)
	}
	m.end(err)
}

func (m *primaryMove) moveUncoordinated(t env.Task) error {
	here, err := m.find(t)
	if err != nil || !here {
		return err
	}
	for _, take := range []func(env.Task) error{
		m.copyWhileWritten, m.enterSection, m.commitOnce, m.cleanOnce,
	} {
		if err := take(t); err != nil {
			return err
		}
	}
	m.announce(trace.PrimaryDone)
	return nil
}

// copyWhileWritten is the clone stage: what is written behind the copy is not seen.
func (m *primaryMove) copyWhileWritten(t env.Task) error {
	m.announce(trace.PrimaryCloning)
	return m.copyAll(t)
}

// enterSection blocks writes and then reads, in memory. Before, a majority knows of the commit that
// follows: a primary that did not might take what a config server that lags has to say of the
// database for true, and acknowledge writes that nobody finds. In between, the recipient notes the
// end of writes here, and secondaries are told: what they ask for from then on is answered behind
// the section.
func (m *primaryMove) enterSection(t env.Task) error {
	m.announce(trace.PrimaryEnterCritSec)
	if err := m.at(t, failpoint.MovePrimaryBlockWrites); err != nil {
		return err
	}
	// The wait and the term may end at once; a section that is entered then is never left.
	if err := cmp.Or(m.count(t), t.Err()); err != nil {
		return err
	}
	for _, ns := range m.held() {
		m.s.shard.Collection(ns).EnterWrites(m.holder())
	}
	if err := m.arrive(t); err != nil {
		return err
	}
	if err := m.s.shard.SignalDatabase(t, m.record.Database); err != nil {
		return err
	}
	if err := m.at(t, failpoint.MovePrimaryBlockReads); err != nil {
		return err
	}
	for _, ns := range m.held() {
		m.s.shard.Collection(ns).EnterReads(m.holder())
	}
	return nil
}

// arrive has the recipient note in its log again, by a copy of nothing, that the database arrives.
// What was written since the copy began is in the log here: readers of changes who have not got
// beyond that must not go on in the other one (protocol 12).
func (m *primaryMove) arrive(t env.Task) error {
	_, err := askPrimary[command.ClonedCatalogData](t, m.s, m.record.To, &command.CloneCatalogData{
		Move:     m.record.Move,
		Database: m.record.Database,
		From:     m.record.From,
		Lsid:     m.record.Lsid + ", arriving",
	})
	return err
}

func (m *primaryMove) count(t env.Task) (err error) {
	m.uncount, err = m.s.commits.CountCommit(t, m.record.Move)
	return err
}

// commitOnce sends the commit. When its outcome is unknown, a majority write to the config server
// returns a time after which the catalog can be read; a commit that arrives even later finds
// nobody to refuse it.
func (m *primaryMove) commitOnce(t env.Task) error {
	m.announce(trace.PrimaryCommit)
	failure := m.s.sendUntil(t, shard.ConfigSet, &command.CommitMovePrimary{
		Database: m.record.Database,
		Expected: m.record.version(),
		To:       m.record.To,
		Move:     m.record.Move,
	})
	if failure != nil {
		if err := m.validate(t); err != nil {
			return err
		}
	}
	if err := m.at(t, failpoint.MovePrimaryVerify); err != nil {
		m.clear()
		return err
	}
	now, err := m.lookUp(t)
	m.clear()
	switch {
	case err != nil || now.Database.Primary == m.record.To:
		return err
	case failure != nil:
		return failure
	}
	return errcode.New(errcode.OperationFailed, "database %s has committed %s and is on %s",
		m.record.Database, m.record.Move, now.Database.Primary)
}

// validate makes the write on the config server. A primary that cannot do so does not know the
// outcome and ends its process; a former one only forgets the placement, as the count on record
// informs the next.
func (m *primaryMove) validate(t env.Task) error {
	details, err := bson.Marshal(bson.D{
		{Key: "move", Value: m.record.Move}, {Key: "to", Value: m.record.To},
	})
	m.s.node.Assert(err == nil, "two words cannot be encoded: %v", err)
	err = m.s.sendUntil(t, shard.ConfigSet, &command.LogChange{
		What:    "movePrimary.validating",
		NS:      m.record.Database,
		Details: details,
	})
	if err != nil {
		if !m.over && m.s.member.IsPrimary() {
			m.s.node.Abort("the outcome of movePrimary " + m.record.Move + " cannot be found out: " +
				err.Error())
		}
		m.clear()
	}
	return err
}

// cleanOnce lets requests pass, whose answer is to ask the new primary, and drops the collections
// that it has.
func (m *primaryMove) cleanOnce(t env.Task) error {
	if err := m.at(t, failpoint.MovePrimaryUnblock); err != nil {
		return err
	}
	m.leaveSections()
	m.announce(trace.PrimaryCleaning)
	return m.dropMoved(t)
}

// leaveSections lets requests pass: the commit is in progress no more.
func (m *primaryMove) leaveSections() {
	for _, ns := range m.held() {
		m.s.shard.Collection(ns).Leave(m.holder())
	}
	m.uncount()
	m.uncount = func() {}
}

// clear makes requests read the catalog again.
func (m *primaryMove) clear() {
	m.s.shard.ClearUnsharded(m.record.Database)
}

func (m *primaryMove) holder() shard.Holder {
	return shard.Holder{Actor: trace.Donor, ID: m.record.Move}
}
