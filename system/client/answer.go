package client

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
)

// Certainty is what the application knows of an operation when it ends.
type Certainty uint8

// The certainties. The zero value claims the least.
const (
	Unknown Certainty = iota // it may have happened, may happen later, or not
	OK                       // it happened, with the result given
	Failed                   // it certainly had no effect and never will have
)

// String is the certainty in the words of a history.
func (c Certainty) String() string { return [...]string{"unknown", "ok", "failed"}[c] }

// Answer is the end of an operation.
type Answer struct {
	Certainty Certainty
	// Written is the result of a write; only its meaning for Certainty OK is to be relied on.
	Written command.Written
	// Docs is the result of Find.
	Docs []bson.Raw
	// Err is the last error; nil when Certainty is OK.
	Err error
	// After is the cluster time that the client had learned of when it began: what the operation
	// writes is newer. Time is the operation time; zero when there was no answer.
	After, Time hlc.Timestamp
	// Since is that of a read's first batch: nothing was read in a state before that time. Zero: it
	// was not told.
	Since hlc.Timestamp
	// Retries is how many attempts were made after the first.
	Retries int
}

// uncertainty is what the failed attempts of one statement leave open.
type uncertainty struct {
	// lost: an attempt was not answered. It may execute at any later time.
	lost bool
	// executed: an attempt ended with an error that does not exclude that it executed.
	executed bool
}

// note takes in the error of an attempt.
func (d *uncertainty) note(err error) {
	switch {
	case errcode.Is(err, errcode.NetworkTimeout, errcode.HostUnreachable):
		d.lost = true
	case !IsCertainRefusal(err):
		d.executed = true
	}
}

// leavesRecord reports whether a result of that write is on record: a statement that has changed
// nothing is carried out again, also one that has found a document that is already as it asks for.
func leavesRecord(op env.Message, w *command.Written) bool {
	changes := w.Modified > 0 || w.Upserted
	switch op := op.(type) {
	case *command.Update:
		return changes
	case *command.FindAndModify:
		return changes || op.Remove && w.N > 0
	}
	return w.N > 0
}

// result judges an attempt at op that was answered without error.
func (d *uncertainty) result(op env.Message, w *command.Written, retries int) Answer {
	a := Answer{Certainty: OK, Written: *w, Retries: retries}
	switch {
	case w.ConcernError != "":
		a.Certainty, a.Err = Unknown, errcode.New(errcode.WriteConcernFailed, "%s", w.ConcernError)
	case !leavesRecord(op, w) && d.lost:
		a.Certainty, a.Err = Unknown,
			errcode.New(errcode.NetworkTimeout, "an earlier attempt got lost and may yet execute")
	}
	return a
}

// failure judges a statement whose last attempt failed.
func (d *uncertainty) failure(err error, retries int) Answer {
	a := Answer{Certainty: Failed, Err: err, Retries: retries}
	if d.lost || d.executed {
		a.Certainty = Unknown
	}
	return a
}

// IsCertainRefusal reports whether err says for certain that the attempt did not execute.
func IsCertainRefusal(err error) bool {
	return errcode.Is(err, errcode.DuplicateKey, errcode.BadValue, errcode.ShardKeyNotFound,
		errcode.ImmutableField, errcode.NamespaceNotFound, errcode.CommandNotFound,
		errcode.StaleConfig, errcode.StaleDbVersion, errcode.StaleEpoch, errcode.NotWritablePrimary,
		errcode.MovePrimaryInProgress, errcode.IllegalOperation)
}

// isRetryableWrite reports whether a driver sends a write again after err.
func isRetryableWrite(err error) bool {
	return errcode.Is(err, errcode.NetworkTimeout, errcode.HostUnreachable,
		errcode.NotWritablePrimary, errcode.PrimarySteppedDown,
		errcode.InterruptedDueToReplStateChange, errcode.Interrupted, errcode.ExceededTimeLimit)
}

// isRetryableRead reports whether a read that failed so may succeed when repeated.
func isRetryableRead(err error) bool {
	return isRetryableWrite(err) || errcode.Is(err, errcode.StaleConfig, errcode.StaleDbVersion,
		errcode.StaleEpoch, errcode.QueryPlanKilled, errcode.CursorNotFound,
		errcode.ReadConcernMajorityNotAvailableYet)
}
