package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/scenario"
)

// control are the messages that steer a migration; most of what goes wrong with migrations goes
// wrong with them (protocol 5, 8, 9). The names are those of the commands.
var control = map[string]bool{
	"ShardsvrMoveRange":               true,
	"MoveRange":                       true,
	"RecvChunkStart":                  true,
	"RecvChunkStatus":                 true,
	"RecvChunkCommit":                 true,
	"RecvChunkAbort":                  true,
	"RecvChunkReleaseCritSec":         true,
	"MigrateClone":                    true,
	"TransferMods":                    true,
	"NextSessionMods":                 true,
	"AdvanceTxn":                      true,
	"RangeTaskOp":                     true,
	"CommitChunkMigration":            true,
	"EnsureChunkVersionIsGreaterThan": true,
	"GetRoutingTable":                 true,
	"FlushRoutingTableCacheUpdates":   true,
}

// commit are those of the commit window alone: from the end of the clone to the release of the
// recipient.
var commit = map[string]bool{
	"RecvChunkCommit": true, "RecvChunkReleaseCritSec": true, "CommitChunkMigration": true,
	"EnsureChunkVersionIsGreaterThan": true, "AdvanceTxn": true, "RangeTaskOp": true,
}

// client are the commands of clients. They travel over connections that deliver once: a second copy
// exists only when a driver sends one, and then the driver knows and answers for it. A server owes
// nothing to a copy that nobody sent: a write that changed nothing leaves no trace in its session
// by which a copy could be told (protocol 7).
var client = map[string]bool{
	"Insert":        true,
	"Update":        true,
	"Delete":        true,
	"FindAndModify": true,
	"Find":          true,
	"GetMore":       true,
	"KillCursors":   true,
	"CollStats":     true,
	"ReadCatalog":   true,
	// Operations on whole unsharded collections are statements of the primary shard like these.
	"CreateUnsharded": true,
	"DropUnsharded":   true,
	"RenameUnsharded": true,
	"IndexUnsharded":  true,
	Unnumbered:        true,
}

// Unnumbered are the requests for operations on whole sharded collections that are no statements of
// a session: the router that gets one gives it a number, and repeats that until it is over.
const Unnumbered = "UnnumberedOperation"

// administration are the messages that change whole collections, databases, chunks without their
// documents, or the list of shards, and that are safe to come late or twice: they carry the number
// of an operation, a session, a version or a time. Commands of operators without any of these are
// not among them.
var administration = map[string]bool{
	"DropCollection": true, "RenameCollection": true, "CreateIndex": true, "DropIndex": true,
	"ShardCollection": true, "ShardsvrParticipate": true,
	"CloneCatalogData": true, "ImportSessions": true, "CommitMovePrimary": true,
	"DropClonedData": true, "CommitChunkSplit": true, "CommitChunksMerge": true,
	"CommitMergeAllChunks": true, "ShardsvrJoinCluster": true, "ShardsvrLeaveCluster": true,
}

// questionsOfMoves and the like are the requests between servers that are in none of these lists,
// by what makes a scenario have them: most ask for what others decide by, so that it matters
// whether silence is taken for an answer.
var (
	questionsOfMoves    = []string{"CollectionOptions", "JoinMigrations", "LogChange"}
	questionsOfBalancer = []string{
		"DataSize", "ShardsvrGetStatsForBalancing", "ShardsvrMergeAllChunks", "ShardsvrSplitChunk",
		"SplitVector", "SplitVector",
	}
	questionsOfPrimaries = []string{
		"AssertNoCollections", "ClonePage", "CreateDatabase", "GetDatabase", "ShardsvrMovePrimary",
	}
	questionsOfWhole   = []string{"JoinMigrations", "ShardsvrDescribe"}
	questionsOfStreams = []string{"ReadChanges"}
)

// MessageRole is how much a message has to do with the outcome of a migration.
type MessageRole uint8

// The degrees.
const (
	Bystander      MessageRole = iota // not at all
	Administration                    // it changes what migrations rest on
	Control                           // it steers a migration
	Commit                            // it does so in the commit window
)

// others are the messages of other systems than the store of this module.
var others = map[string]Message{}

// Message is a message of another system than the store of this module.
type Message struct {
	Role MessageRole
	// Once is true for what travels over a connection that delivers once, as the requests of
	// clients.
	Once bool
}

// DeclareMessages adds the messages of a system, by class, so that faults can aim at them. It is
// called from package-level variables only. What is drawn for the store of this module stays as it
// was.
func DeclareMessages(all map[string]Message) map[string]Message {
	for _, class := range slices.Sorted(maps.Keys(all)) {
		if _, known := others[class]; known || control[class] || client[class] ||
			administration[class] {
			panic("faults: the message " + class + " is declared twice")
		}
		others[class] = all[class]
	}
	return all
}

// RoleOf is the degree of the messages of a class.
func RoleOf(class string) MessageRole {
	switch {
	case commit[class]:
		return Commit
	case control[class]:
		return Control
	case administration[class]:
		return Administration
	}
	return others[class].Role
}

// numbered are the commands of clients that a server can tell from a copy: a router says which
// batch it asks for.
var numbered = map[string]bool{"GetMore": true}

// MayDouble reports whether the network may deliver messages of a class twice.
func MayDouble(class string) bool {
	return numbered[class] || !client[class] && !others[class].Once
}

// ControlMessages lists the control messages, for tests that hold them against the commands that
// exist.
func ControlMessages() []string { return slices.Sorted(maps.Keys(control)) }

// AdministrationMessages lists those of administration.
func AdministrationMessages() []string { return slices.Sorted(maps.Keys(administration)) }

// Questions lists the requests between servers of a scenario that are neither control messages nor
// of administration; one that is there twice is to be drawn twice as often.
func Questions(s *scenario.Scenario) []string {
	all := slices.Clone(questionsOfMoves)
	for _, group := range []struct {
		asked     bool
		questions []string
	}{
		{s.Balancer, questionsOfBalancer},
		{len(s.Primaries) > 0, questionsOfPrimaries},
		{slices.ContainsFunc(s.Ops, func(op scenario.Op) bool { return op.Kind.Whole() }),
			questionsOfWhole},
		{len(s.Streams) > 0, questionsOfStreams},
	} {
		if group.asked {
			all = append(all, group.questions...)
		}
	}
	return all
}

// Requests lists what the servers of a scenario may be asked for, so that the task can be chosen
// which carries it out: one command is as likely as another, be it sent often or once.
func Requests(s *scenario.Scenario) []string {
	all := append(Questions(s), slices.Sorted(maps.Keys(client))...)
	all = append(all, ControlMessages()...)
	return append(all, AdministrationMessages()...)
}

var messagesArg = textArg("messages",
	"control, commit, administration, all, or the name of one command", "control")

// repeatedArg is messagesArg without the commands of clients, which may not be doubled.
var repeatedArg = Arg{
	Name:    "messages",
	About:   "control, commit, administration, or the name of one such message",
	Default: "control",
	check: func(v string) error {
		if v == "control" || v == "commit" || v == "administration" || RoleOf(v) > Bystander {
			return nil
		}
		return fmt.Errorf("%q is neither control nor commit nor administration nor one of %s",
			v, strings.Join(slices.Concat(ControlMessages(), AdministrationMessages()), ", "))
	},
}

// classes reads the messages argument.
func (c *Case) classes() func(string) bool {
	switch want := c.text("messages"); want {
	case "all":
		return nil
	case "control":
		return func(name string) bool { return RoleOf(name) >= Control }
	case "commit":
		return func(name string) bool { return RoleOf(name) == Commit }
	case "administration":
		return func(name string) bool { return RoleOf(name) == Administration }
	default:
		return func(name string) bool { return name == want }
	}
}

func messagesArgs(d *Draw) string {
	switch d.n("messages", 4) {
	case 0:
		return "commit"
	case 1:
		return "control"
	default:
		return d.one("message", ControlMessages()...)
	}
}

func percentArg(about string, value int) Arg { return numberArg("percent", about, 1, 100, value) }
