package trace

// Kind says what happened, and with it which fields of an Event have a meaning: those of the type
// of that name, with Event behind it.
type Kind uint8

// The kinds.
const (
	// Of the world.

	NodeUp Kind = iota + 1
	NodeDown
	ProcessAborted
	Fault
	Repair
	PointHit
	Reached

	// Of a replica set.

	Elected
	Writable
	SteppedDown
	Majority
	RolledBack

	// Of data. Leaders alone emit these.

	Applied
	Executed

	// Of the catalog. A CatalogWritten counts from the Majority event of the config server
	// that covers its Index.

	CatalogWritten

	// Of a shard's knowledge.

	MetadataInstalled
	MetadataCleared
	CriticalSection
	CursorOpened
	CursorClosed

	// Of a migration.

	MigrationRequested
	DonorAdvanced
	RecipientAdvanced
	DecisionMade
	MigrationEnded

	// Of range deletion.

	RangeDeletion

	// Of a movePrimary.

	PrimaryMoving

	// Of the balancer, all with Shard "config" unless they say otherwise.

	BalancerRound
	BalancerChose
	BalancerQueued
	BalancerDone
	BalancerState
	BalancerStopped

	// Of shards, zones and what operators say about collections; it counts as a CatalogWritten
	// does.

	ClusterChanged

	// Of an entry of the catalog that is no chunk: which of its fields a write has changed.

	EntryChanged

	// Of conversations: what passes between two nodes, as it is seen on the way, whatever the
	// servers believe.

	Answered
	CallEnded
	CursorAnswered
	Weighed
	MoveAsked
	SplitAsked
	SplitFound
	SplitBegun
	SplitMade

	// Of chance, and of what was said. No world emits them: they are added to what is kept of a run.

	Chance
	Exchanged

	kinds
)

// layout is how events of a kind stand in files and texts: the kind's name, and the names of what
// fields without a name of their own hold.
type layout struct {
	name                            string
	subject, detail, number, amount string
	// parse reads the state that detail names; nil when it names none.
	parse func(string) (uint8, bool)
}

var layouts = [kinds]layout{
	NodeUp:         {name: "node-up", detail: "incarnation"},
	NodeDown:       {name: "node-down", detail: "incarnation"},
	ProcessAborted: {name: "process-aborted", detail: "why"},
	Fault:          {name: "fault", number: "fault", detail: "faultKind"},
	Repair:         {name: "repair", number: "fault", detail: "faultKind"},
	PointHit: {
		name: "point", detail: "site", subject: "migration", number: "n", amount: "failed",
	},
	Reached:     {name: "reached", detail: "probe", number: "n"},
	Elected:     {name: "elected", subject: "log"},
	Writable:    {name: "writable"},
	SteppedDown: {name: "stepped-down"},
	Majority:    {name: "majority"},
	RolledBack:  {name: "rolled-back"},
	Applied:     {name: "applied", subject: "for"},
	Executed: {
		name:    "executed",
		subject: "session",
		amount:  "txn",
		number:  "statement",
		detail:  "migration",
	},
	CatalogWritten:    {name: "catalog-written", detail: "why", parse: parseChange, amount: "time"},
	MetadataInstalled: {name: "metadata-installed", detail: "version"},
	MetadataCleared:   {name: "metadata-cleared"},
	CriticalSection: {
		name:    "critical-section",
		subject: "migration",
		detail:  "state",
		parse:   parsed(ParseSectionState),
	},
	CursorOpened:       {name: "cursor-opened", subject: "cursor"},
	CursorClosed:       {name: "cursor-closed", subject: "cursor"},
	MigrationRequested: {name: "migration-requested", subject: "migration", detail: "request"},
	DonorAdvanced: {
		name: "donor-state", subject: "migration", detail: "state", parse: parsed(ParseDonorState),
	},
	RecipientAdvanced: {
		name:    "recipient-state",
		subject: "migration",
		detail:  "state",
		parse:   parsed(ParseRecipientState),
	},
	DecisionMade: {
		name: "decision", subject: "migration", detail: "decision", parse: parsed(ParseDecision),
	},
	MigrationEnded: {
		name:    "migration-ended",
		subject: "migration",
		detail:  "decision",
		parse:   parsed(ParseDecision),
		number:  "recovered",
	},
	RangeDeletion: {
		name:    "range-deletion",
		subject: "migration",
		detail:  "state",
		parse:   parsed(ParseDeletionState),
		number:  "orphans",
	},
	PrimaryMoving: {
		name:    "primary-moving",
		subject: "migration",
		detail:  "phase",
		parse:   parsed(ParsePrimaryMovePhase),
	},
	BalancerRound: {
		name: "balancer-round", number: "round", detail: "phase", parse: parsed(ParseRoundPhase),
	},
	BalancerChose: {
		name: "balancer-chose", subject: "request", detail: "why", amount: "aheadOfUTC",
	},
	BalancerQueued: {name: "balancer-queued", subject: "request"},
	BalancerDone:   {name: "balancer-done", subject: "request", detail: "outcome"},
	BalancerState: {
		name: "balancer-state", detail: "mode", parse: parsed(ParseBalancerMode), subject: "window",
		number: "closed",
	},
	BalancerStopped: {name: "balancer-stopped"},
	ClusterChanged: {
		name:    "cluster-changed",
		detail:  "change",
		parse:   parsed(ParseClusterChange),
		subject: "zones",
		amount:  "maxBytes",
	},
	EntryChanged: {name: "entry-changed", subject: "fields", detail: "why"},
	Answered: {
		name: "answered", subject: "request", detail: "code", amount: "arrived",
	},
	CallEnded: {
		name: "call-ended", subject: "request", detail: "code", amount: "sent",
	},
	CursorAnswered: {
		name: "cursor-answered", subject: "cursor", detail: "state",
		parse: parsed(ParseCursorState), amount: "arrived",
	},
	Weighed:    {name: "weighed", amount: "bytes"},
	MoveAsked:  {name: "move-asked", subject: "request", detail: "asking"},
	SplitAsked: {name: "split-asked"},
	SplitFound: {name: "split-found", number: "chunkBytes", amount: "arrived"},
	SplitBegun: {name: "split-begun", number: "chunkBytes", amount: "sent"},
	SplitMade:  {name: "split-made", detail: "code"},
	Chance: {
		name:    "chance",
		detail:  "question",
		subject: "place",
		number:  "occurrence",
		amount:  "answer",
	},
	Exchanged: {name: "exchanged", subject: "request", detail: "said", amount: "arrived"},
}

// parsed makes any state a number.
func parsed[T ~uint8](parse func(string) (T, bool)) func(string) (uint8, bool) {
	return func(s string) (uint8, bool) {
		state, known := parse(s)
		return uint8(state), known
	}
}

// parseChange takes every text: a change of the catalog may have no name here.
func parseChange(s string) (uint8, bool) {
	c, _ := ParseCatalogChange(s)
	return uint8(c), true
}

// String is the kind's name in texts and files.
func (k Kind) String() string {
	if k < kinds && layouts[k].name != "" {
		return layouts[k].name
	}
	return "kind-unknown"
}

// ParseKind is the inverse of String.
func ParseKind(s string) (Kind, bool) {
	for k := Kind(1); k < kinds; k++ {
		if layouts[k].name == s {
			return k, true
		}
	}
	return 0, false
}
