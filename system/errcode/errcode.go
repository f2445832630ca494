// Package errcode holds the errors that cross the borders of a node: a code on which callers
// decide, a sentence for people, and for a few codes a detail that the caller acts on. The names of
// the codes are those that MongoDB's drivers know.
//
// Promise: every error that a caller must distinguish has a code here; nobody compares texts.
//
// Refusal: it does not decide what callers do with a code: whether to retry is up to them.
package errcode

import (
	"errors"
	"fmt"
)

// Code is the reason of a failure.
type Code string

// The codes, by the role that returns them.
const (
	// Network: the request may (timeout) or may not (unreachable) have been executed.
	NetworkTimeout  Code = "NetworkTimeout"
	HostUnreachable Code = "HostUnreachable"

	// Tasks and terms.
	Interrupted                        Code = "Interrupted"
	InterruptedDueToReplStateChange    Code = "InterruptedDueToReplStateChange"
	ExceededTimeLimit                  Code = "ExceededTimeLimit"
	NotWritablePrimary                 Code = "NotWritablePrimary"
	PrimarySteppedDown                 Code = "PrimarySteppedDown"
	ReadConcernMajorityNotAvailableYet Code = "ReadConcernMajorityNotAvailableYet"
	WriteConcernFailed                 Code = "WriteConcernFailed"

	// Versions and routing (protocol 3.4).
	StaleConfig       Code = "StaleConfig"
	StaleEpoch        Code = "StaleEpoch"
	StaleDbVersion    Code = "StaleDbVersion"
	NamespaceNotFound Code = "NamespaceNotFound"
	NamespaceExists   Code = "NamespaceExists"
	ShardNotFound     Code = "ShardNotFound"
	CursorNotFound    Code = "CursorNotFound"
	CursorInUse       Code = "CursorInUse"
	QueryPlanKilled   Code = "QueryPlanKilled"
	DuplicateKey      Code = "DuplicateKey"
	BadValue          Code = "BadValue"
	ShardKeyNotFound  Code = "ShardKeyNotFound"
	ImmutableField    Code = "ImmutableField"
	CommandNotFound   Code = "CommandNotFound"
	StaleChunkHistory Code = "StaleChunkHistory"
	SnapshotTooOld    Code = "SnapshotTooOld"
	// What is said twice about one path: in a change, and in the filter of an upsert.
	ConflictingUpdateOperators Code = "ConflictingUpdateOperators"
	NotSingleValueField        Code = "NotSingleValueField"
	// IndexKeySpecsConflict: an index with other keys has the name.
	IndexKeySpecsConflict Code = "IndexKeySpecsConflict"
	// BSONObjectTooLarge: a document would have more bytes than any may have.
	BSONObjectTooLarge Code = "BSONObjectTooLarge"
	// ChangeStreamHistoryLost: the log, or the history of placements, does not reach back to the
	// resume token.
	ChangeStreamHistoryLost Code = "ChangeStreamHistoryLost"

	// Sessions.
	TransactionTooOld            Code = "TransactionTooOld"
	IncompleteTransactionHistory Code = "IncompleteTransactionHistory"

	// Migrations.
	ConflictingOperationInProgress Code = "ConflictingOperationInProgress"
	OperationFailed                Code = "OperationFailed"
	ChunkTooBig                    Code = "ChunkTooBig"
	IndexNotFound                  Code = "IndexNotFound"
	LockTimeout                    Code = "LockTimeout"
	ResumableRangeDeleterDisabled  Code = "ResumableRangeDeleterDisabled"
	ExceededMemoryLimit            Code = "ExceededMemoryLimit"
	SessionTransferIncomplete      Code = "SessionTransferIncomplete"
	StaleSession                   Code = "StaleSession"
	RangeOverlapConflict           Code = "RangeOverlapConflict"
	IncompatibleShardingMetadata   Code = "IncompatibleShardingMetadata"

	// Moves of a primary.
	MovePrimaryInProgress Code = "MovePrimaryInProgress"

	// Administration.
	IllegalOperation Code = "IllegalOperation"
	InvalidOptions   Code = "InvalidOptions"
	ZoneNotFound     Code = "ZoneNotFound"
	ZoneStillInUse   Code = "ZoneStillInUse"

	// Everything else.
	FailPointEnabled Code = "FailPointEnabled"
	Internal         Code = "InternalError"
)

// Error is a failure with a code. Reason is a lower-case sentence with the values in it. Detail is
// nil or a message known to the codec; it is never changed after the error was made.
type Error struct {
	Code   Code
	Reason string
	Detail any
}

// Error returns the code and the sentence.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Reason }

// New returns an error with a formatted reason.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// With returns an error with a detail.
func With(code Code, detail any, format string, args ...any) *Error {
	return &Error{Code: code, Reason: fmt.Sprintf(format, args...), Detail: detail}
}

// Of returns the code of err: empty for nil, Internal for an error without a code.
func Of(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Reason is what err says besides its code, all of it for an error without one.
func Reason(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return err.Error()
}

// Is reports whether err has one of the codes.
func Is(err error, codes ...Code) bool {
	of := Of(err)
	for _, c := range codes {
		if of == c {
			return true
		}
	}
	return false
}
