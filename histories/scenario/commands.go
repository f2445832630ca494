package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Command is an operator's command to servers while the cluster runs.
type Command struct {
	At time.Duration
	Do CommandKind
	// Name is what it is about: a setting, a namespace, a shard or a document of config.settings.
	Name string
	// Value is that of the setting, the zone, a number of bytes, or "on" or "off".
	Value string
	// Min is where a chunk is cut, or a key of the chunk that is meant; Min and Max bound a range, as in Migration.
	Min, Max int64
	// Fields are those of the document.
	Fields []Setting
}

// CommandKind is what a command does.
type CommandKind string

// The kinds of commands.
const (
	SetParameter    CommandKind = "set"              // every server that runs changes the setting
	CleanupOrphaned CommandKind = "cleanup-orphaned" // every shard answers when its range deletions of the namespace are done
	JoinMigrations  CommandKind = "join-migrations"  // every shard answers when it takes part in no migration of the namespace
	SplitChunk      CommandKind = "split"            // a router has the chunk that holds a value of k (or of the hash) cut there
	MergeChunks     CommandKind = "merge"            // a router has the chunks of a range, all on one shard, made one

	// The following are for the config server.
	PutSetting     CommandKind = "put-setting"    // a document of config.settings is replaced by one with these fields
	BalancerStart  CommandKind = "balancer-start" // rounds begin from now on
	BalancerStop   CommandKind = "balancer-stop"  // answered when no round is under way and nothing of the balancer commits any more
	RemoveShard    CommandKind = "remove-shard"   // repeated until the shard is removed, its databases moved to others
	AddShard       CommandKind = "add-shard"      // repeated until the shard is one again
	ZoneAdd        CommandKind = "zone-add"       // the shard may have ranges of the zone
	ZoneRemove     CommandKind = "zone-remove"    // it may not any more
	ZoneRange      CommandKind = "zone"           // the range is of the zone from now on, and with NoZone of none
	Balance        CommandKind = "balance"        // on or off: the balancer may move chunks of the namespace or not
	ChunkSize      CommandKind = "chunk-size"     // chunks of the namespace aim at so many bytes, and with 0 at the cluster's
	Defragment     CommandKind = "defragment"     // on or off: small chunks that lie next to each other are joined
	ClearJumboFlag CommandKind = "clear-jumbo"    // the chunk that holds the key may be moved again
)

// NoZone stands for no zone in a ZoneRange.
const NoZone = "none"

// settingsDocuments are the documents of config.settings with the fields that a scenario can give them.
var settingsDocuments = map[string][]string{
	"balancer":  {"mode", "activeWindow", "throttle", "waitForDelete", "jumbo"},
	"chunksize": {"bytes"},
	"autosplit": {"enabled"},
	"automerge": {"enabled"},
}

// commandLines are all kinds of commands, in the order in which they are explained, with what follows their names.
var commandLines = []struct {
	kind     CommandKind
	operands []operand
}{
	{SetParameter, []operand{settingName, settingValue}},
	{CleanupOrphaned, []operand{namespace}},
	{JoinMigrations, []operand{namespace}},
	{SplitChunk, []operand{namespace, cut}},
	{MergeChunks, []operand{namespace, joined}},
	{PutSetting, []operand{document, fields}},
	{BalancerStart, nil},
	{BalancerStop, nil},
	{RemoveShard, []operand{shard}},
	{AddShard, []operand{shard}},
	{ZoneAdd, []operand{shard, zone}},
	{ZoneRemove, []operand{shard, zone}},
	{ZoneRange, []operand{namespace, joined, zone}},
	{Balance, []operand{namespace, onOrOff}},
	{ChunkSize, []operand{namespace, bytes}},
	{Defragment, []operand{namespace, onOrOff}},
	{ClearJumboFlag, []operand{namespace, heldKey}},
}

// operandsOf are what follows the name of a kind; false for a kind that is not known.
func operandsOf(k CommandKind) ([]operand, bool) {
	for _, c := range commandLines {
		if c.kind == k {
			return c.operands, true
		}
	}
	return nil, false
}

// Known says whether the kind is one that an operator can give.
func (k CommandKind) Known() bool {
	_, known := operandsOf(k)
	return known
}

func commandList() string {
	var all []string
	for _, c := range commandLines {
		all = append(all, string(c.kind))
	}
	return strings.Join(all, ", ")
}

// command reads what follows the start time.
func (l *line) command() Command {
	c := Command{Do: CommandKind(l.word("a command"))}
	operands, _ := operandsOf(c.Do)
	for _, o := range operands {
		o.read(l, &c)
	}
	return c
}

// String is the command's line.
func (c Command) String() string {
	text := fmt.Sprintf("at %s %s", c.At, c.Do)
	operands, _ := operandsOf(c.Do)
	for _, o := range operands {
		text += " " + o.print(&c)
	}
	return strings.TrimRight(text, " ")
}

func (s *Scenario) checkCommands(names Names) *defect {
	for i := range s.Commands {
		c := &s.Commands[i]
		operands, known := operandsOf(c.Do)
		switch {
		case c.At < 0:
			return flaw("at", i, "the start "+c.At.String()+" is negative", "a time of 0s or later")
		case !known:
			return flaw("at", i, "unknown command "+word(string(c.Do)), "one of "+commandList())
		}
		for _, o := range operands {
			if wrong, expected := o.flaw(s, names, c); wrong != "" {
				return flaw("at", i, wrong, expected)
			}
		}
		if unused := c.bare(operands); unused != "" {
			return flaw("at", i, "a "+string(c.Do)+" has no "+unused, "no more than the command's own operands")
		}
	}
	return nil
}

// bare names what the command carries and its line does not say; empty for nothing.
func (c *Command) bare(operands []operand) string {
	left := Command{At: c.At, Do: c.Do}
	l := &line{rest: strings.TrimPrefix(c.String(), fmt.Sprintf("at %s %s", c.At, c.Do))}
	for _, o := range operands {
		o.read(l, &left)
	}
	switch {
	case left.Name != c.Name:
		return "name"
	case left.Value != c.Value:
		return "value"
	case left.Min != c.Min || left.Max != c.Max:
		return "range"
	case !slices.Equal(left.Fields, c.Fields):
		return "fields"
	}
	return ""
}
