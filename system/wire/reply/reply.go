// Package reply builds the documents by which clients learn how a command ended: results and
// errors, with the numbers and labels that drivers know.
//
// Promise: every code of the store has the number that drivers expect; a code without one is sent
// as an internal error.
//
// Refusal: it executes nothing; the packages that serve commands decide what is answered.
package reply

import (
	"errors"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
)

// The codes that only the wire protocol knows.
const (
	AuthenticationFailed      errcode.Code = "AuthenticationFailed"
	CommandNotSupported       errcode.Code = "CommandNotSupported"
	CursorKilled              errcode.Code = "CursorKilled"
	FailedToParse             errcode.Code = "FailedToParse"
	InvalidNamespace          errcode.Code = "InvalidNamespace"
	InvalidOptions            errcode.Code = "InvalidOptions"
	InvalidPipelineOperator   errcode.Code = "InvalidPipelineOperator"
	MaxTimeMSExpired          errcode.Code = "MaxTimeMSExpired"
	NoSuchTransaction         errcode.Code = "NoSuchTransaction"
	OperationNotSupported     errcode.Code = "OperationNotSupportedInTransaction"
	ProtocolError             errcode.Code = "ProtocolError"
	TypeMismatch              errcode.Code = "TypeMismatch"
	Unauthorized              errcode.Code = "Unauthorized"
	UnknownReplWriteConcern   errcode.Code = "UnknownReplWriteConcern"
	UnsatisfiableWriteConcern errcode.Code = "UnsatisfiableWriteConcern"
	ChangeStreamFatalError    errcode.Code = "ChangeStreamFatalError"
	InvalidResumeToken        errcode.Code = "InvalidResumeToken"
)

var numbers = map[errcode.Code]int32{
	errcode.Internal: 1, errcode.BadValue: 2, errcode.HostUnreachable: 6,
	FailedToParse: 9, Unauthorized: 13, TypeMismatch: 14, ProtocolError: 17,
	AuthenticationFailed: 18, errcode.IllegalOperation: 20, errcode.NamespaceNotFound: 26,
	errcode.IndexNotFound: 27, errcode.ConflictingUpdateOperators: 40,
	errcode.CursorNotFound: 43, errcode.NamespaceExists: 48, errcode.NotSingleValueField: 54,
	MaxTimeMSExpired: 50, errcode.CommandNotFound: 59, errcode.ShardKeyNotFound: 61,
	errcode.StaleConfig: 13388, errcode.StaleEpoch: 150, errcode.StaleDbVersion: 249,
	errcode.WriteConcernFailed: 64, errcode.ImmutableField: 66, errcode.ShardNotFound: 70,
	InvalidOptions: 72, InvalidNamespace: 73, UnknownReplWriteConcern: 79,
	errcode.NetworkTimeout: 89, errcode.OperationFailed: 96, UnsatisfiableWriteConcern: 100,
	CommandNotSupported: 115, errcode.ConflictingOperationInProgress: 117,
	errcode.ReadConcernMajorityNotAvailableYet: 134,
	errcode.ZoneNotFound:                       177, errcode.RangeOverlapConflict: 178,
	errcode.PrimarySteppedDown: 189, errcode.CursorInUse: 12051, errcode.QueryPlanKilled: 175,
	errcode.TransactionTooOld: 225, errcode.SnapshotTooOld: 239, NoSuchTransaction: 251,
	errcode.IncompleteTransactionHistory: 217,
	errcode.ExceededTimeLimit:            262, OperationNotSupported: 263, InvalidResumeToken: 260,
	ChangeStreamFatalError: 280, errcode.ChangeStreamHistoryLost: 286,

	errcode.NotWritablePrimary: 10107,
	errcode.DuplicateKey:       11000, errcode.InterruptedDueToReplStateChange: 11602,
	errcode.Interrupted: 11601, errcode.BSONObjectTooLarge: 10334,
	InvalidPipelineOperator: 168, CursorKilled: 237, errcode.IndexKeySpecsConflict: 86,

	errcode.LockTimeout: 24, errcode.IncompatibleShardingMetadata: 105,
	errcode.ExceededMemoryLimit: 146, errcode.ChunkTooBig: 153, errcode.ZoneStillInUse: 163,
	errcode.FailPointEnabled: 192, errcode.SessionTransferIncomplete: 228,
	errcode.StaleChunkHistory: 250, errcode.ResumableRangeDeleterDisabled: 313,
	errcode.MovePrimaryInProgress: 319,
}

// names are codes that are returned by their numbers, besides those above, most by fail points.
var names = map[int32]string{
	7: "HostNotFound", 8: "UnknownError", 46: "LockBusy", 91: "ShutdownInProgress",
	112: "WriteConflict", 136: "CappedPositionLost", 234: "RetryChangeStream",
	9001: "SocketException", 10058: "LegacyNotPrimary", 11600: "InterruptedAtShutdown",
	13435: "NotPrimaryNoSecondaryOk", 13436: "NotPrimaryOrSecondary", 63: "StaleShardVersion",
	133: "FailedToSatisfyReadPreference", 391: "ReauthenticationRequired",
}

func init() {
	for code, number := range numbers { //shardproof:allow map numbers are distinct
		names[number] = string(code)
	}
}

// Number is the number of a code.
func Number(code errcode.Code) int32 {
	if n, known := numbers[code]; known {
		return n
	}
	return numbers[errcode.Internal]
}

// CodeName is the name of a number, "Location123" for one without.
func CodeName(number int32) string {
	if name, known := names[number]; known {
		return name
	}
	return "Location" + strconv.Itoa(int(number))
}

// OK is a result without fields but ok.
func OK() bson.D { return bson.D{{Key: "ok", Value: 1.0}} }

// Result is a result with fields.
func Result(fields ...bson.E) bson.D { return append(bson.D(fields), OK()...) }

// Failure is an error with everything that its document holds.
type Failure struct {
	Number  int32
	Message string
	Labels  []string
}

// Error returns the name of the code and the message.
func (f *Failure) Error() string { return CodeName(f.Number) + ": " + f.Message }

// FailureOf is what a client learns of an error.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	message := err.Error()
	if e, ok := errors.AsType[*errcode.Error](err); ok {
		message = e.Reason
	}
	return &Failure{Number: Number(errcode.Of(err)), Message: message}
}

// Document is the answer to a command that failed.
func (f *Failure) Document() bson.D {
	doc := bson.D{
		{Key: "ok", Value: 0.0},
		{Key: "errmsg", Value: f.Message},
		{Key: "code", Value: f.Number},
		{Key: "codeName", Value: CodeName(f.Number)},
	}
	if len(f.Labels) > 0 {
		doc = append(doc, bson.E{Key: "errorLabels", Value: f.Labels})
	}
	return doc
}

// retryable are the codes after which a client may send a write again.
var retryable = []errcode.Code{
	errcode.NotWritablePrimary, errcode.PrimarySteppedDown, errcode.NetworkTimeout,
	errcode.InterruptedDueToReplStateChange, errcode.HostUnreachable, errcode.ExceededTimeLimit,
}

// LabelWrite gives the error of a retryable write the label by which drivers know that it may be
// sent again.
func LabelWrite(err error) error {
	if _, done := errors.AsType[*Failure](err); done || !errcode.Is(err, retryable...) {
		return err
	}
	f := FailureOf(err)
	f.Labels = []string{"RetryableWriteError"}
	return f
}

// ConcernError is the field that says that a write was applied and its write concern was not
// satisfied.
func ConcernError(why string) bson.E {
	return bson.E{Key: "writeConcernError", Value: bson.D{
		{Key: "code", Value: Number(errcode.WriteConcernFailed)},
		{Key: "codeName", Value: string(errcode.WriteConcernFailed)},
		{Key: "errmsg", Value: why},
		{Key: "errInfo", Value: bson.D{{Key: "wtimeout", Value: true}}},
	}}
}

// resumable are the codes after which a change stream may be resumed.
var resumable = []int32{
	6, 7, 63, 89, 91, 133, 150, 189, 234, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436,
}

// LabelChangeStream gives the failure of a change stream the label by which drivers know that they
// may resume it.
func LabelChangeStream(f *Failure) {
	if slices.Contains(resumable, f.Number) {
		f.Labels = append(f.Labels, "ResumableChangeStreamError")
	}
}
