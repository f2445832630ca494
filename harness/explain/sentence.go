package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// Sentence is an event in one line for people.
func Sentence(e *trace.Event) string {
	switch e.Kind {
	case trace.Fault:
		return fmt.Sprintf("FAULT %d %s %s", e.FaultNumber(), e.FaultKind(), e.Peer)
	case trace.Repair:
		return fmt.Sprintf("fault %d %s %s ends", e.FaultNumber(), e.FaultKind(), e.Peer)
	case trace.BalancerQueued, trace.BalancerChose, trace.BalancerState, trace.BalancerRound,
		trace.BalancerDone, trace.BalancerStopped:
		return balancerText(e)
	case trace.ClusterChanged:
		return "config writes: " + changeText(e)
	case trace.Chance:
		return chanceText(e)
	case trace.NodeUp:
		return e.Node + " starts"
	case trace.NodeDown:
		return e.Node + " crashes"
	case trace.Elected:
		return fmt.Sprintf("%s becomes primary of %s, term %d", e.Node, e.Shard, e.Term)
	case trace.Writable:
		return e.Node + " accepts writes"
	case trace.SteppedDown:
		return fmt.Sprintf("%s is no longer primary of %s", e.Node, e.Shard)
	case trace.RolledBack:
		return fmt.Sprintf("%s rolls back to index %d", e.Node, e.Index)
	case trace.MigrationRequested:
		return fmt.Sprintf("migration %s %s %s → %s is requested",
			e.Migration(), rangeText(e), e.Shard, e.Peer)
	case trace.DonorAdvanced:
		return fmt.Sprintf("migration %s %s %s → %s: donor %s",
			e.Migration(), rangeText(e), e.Shard, e.Peer, e.State())
	case trace.RecipientAdvanced:
		return fmt.Sprintf("migration %s %s: recipient %s %s",
			e.Migration(), rangeText(e), e.Node, e.State())
	case trace.DecisionMade:
		return fmt.Sprintf("migration %s: decided: %s, by %s", e.Migration(), e.State(), e.Node)
	case trace.MigrationEnded:
		return fmt.Sprintf("migration %s: ended %s on %s", e.Migration(), e.State(), e.Node)
	case trace.CriticalSection:
		return fmt.Sprintf("%s: %s %s", holder(e.Migration()), e.Node, sectionText(e))
	case trace.RangeDeletion:
		return fmt.Sprintf("migration %s %s: range deletion on %s is %s",
			e.Migration(), rangeText(e), e.Node, e.State())
	case trace.MetadataInstalled:
		return fmt.Sprintf("%s installs metadata %s: %s", e.Node, e.Version(), beliefText(e))
	case trace.MetadataCleared:
		return fmt.Sprintf("%s clears its metadata of %s", e.Node, e.NS)
	case trace.Majority:
		return fmt.Sprintf("%s majority-commits up to index %d", e.Shard, e.Index)
	case trace.PrimaryMoving:
		return fmt.Sprintf("movePrimary %s of %s %s → %s: %s",
			e.Migration(), e.NS, e.Shard, e.Peer, e.State())
	case trace.CatalogWritten:
		return "config writes " + e.Why() + ": " + writtenText(e)
	case trace.Applied:
		return appliedText(e)
	case trace.Executed:
		return executedText(e)
	case trace.CursorOpened:
		return fmt.Sprintf("%s opens cursor %s on %s, as owner of %s",
			e.Node, e.Cursor(), rangeText(e), rangeTexts(e.Chunks))
	case trace.CursorClosed:
		return fmt.Sprintf("%s closes cursor %s", e.Node, e.Cursor())
	case trace.Answered, trace.CallEnded, trace.CursorAnswered, trace.Exchanged:
		return conversationText(e)
	}
	return balancingText(e)
}

// conversationText tells what passed between two nodes.
func conversationText(e *trace.Event) string {
	switch {
	case e.Kind == trace.CursorAnswered && e.CursorState() == trace.CursorLost:
		return fmt.Sprintf("%s learns from %s that cursor %s is gone", e.Node, e.Peer, e.Cursor())
	case e.Kind == trace.CursorAnswered:
		return fmt.Sprintf("%s answers %s: %s", e.Node, e.Peer, cursorText(e))
	case e.Kind == trace.Exchanged:
		asked, answer := e.Said()
		return fmt.Sprintf("%s asks %s: %s (%s) → %s", e.Peer, e.Node, e.Asked(), asked, answer)
	case e.Kind == trace.Answered && e.Code() != "":
		return fmt.Sprintf("%s refuses %s of %s with %s", e.Node, e.Asked(), e.Peer, e.Code())
	case e.Kind == trace.Answered:
		return fmt.Sprintf("%s answers %s of %s", e.Node, e.Asked(), e.Peer)
	case e.Code() != "":
		return fmt.Sprintf("%s of %s at %s fails with %s", e.Asked(), e.Node, e.Peer, e.Code())
	}
	return fmt.Sprintf("%s of %s at %s is answered", e.Asked(), e.Node, e.Peer)
}

// cursorText is what an answer means for its cursor.
func cursorText(e *trace.Event) string {
	if e.CursorState() == trace.CursorLives {
		return "there is more, and cursor " + e.Cursor() + " stays open"
	}
	return "cursor " + e.Cursor() + " " + e.State()
}

// balancingText tells what the balancer, a splitter and shards have told each other, and of events
// of any other kind what there is.
func balancingText(e *trace.Event) string {
	switch e.Kind {
	case trace.EntryChanged:
		return fmt.Sprintf("config writes %s: it changes %s of %s",
			e.Why(), strings.Join(e.Fields(), ", "), cmp.Or(e.Peer, e.NS))
	case trace.Weighed:
		what := e.NS
		if e.Min != "" {
			what = rangeText(e) + " of " + e.NS
		}
		return fmt.Sprintf("%s learns that %s has %d bytes of %s", e.Node, e.Peer, e.Bytes(), what)
	case trace.MoveAsked:
		return fmt.Sprintf("%s was asked to move %s to %s for %s: %s",
			e.Node, rangeText(e), e.Peer, e.Request(), e.Asking())
	case trace.SplitBegun:
		return fmt.Sprintf("%s looks for chunks of %s larger than %d bytes",
			e.Node, e.NS, e.ChunkBytes())
	case trace.SplitFound:
		return fmt.Sprintf("%s answers %s that %s can be cut into %s",
			e.Node, e.Peer, rangeText(e), rangeTexts(e.Chunks))
	case trace.SplitAsked:
		return fmt.Sprintf("%s has asked %s to cut %s", e.Node, e.Peer, rangeTexts(e.Chunks))
	case trace.SplitMade:
		return fmt.Sprintf("%s answers %s about cutting %s %s",
			e.Node, e.Peer, rangeTexts(e.Chunks), e.Code())
	}
	subject, says, _ := e.Details()
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Node, e.Kind, says, subject))
}

// writtenText is what a write of the catalog makes of its chunks, or of the collection if it has
// none.
func writtenText(e *trace.Event) string {
	switch {
	case isDatabase(e.NS) && len(e.Chunks) > 0:
		return primaryText(e)
	case len(e.Chunks) > 0:
		return chunkText(e.Chunks[:min(len(e.Chunks), chunksTold)]) +
			andMore(len(e.Chunks)-chunksTold)
	case e.Change() == trace.Dropped:
		return e.NS + " leaves the catalog"
	}
	return "the entry of " + e.NS
}

// isDatabase says whether a namespace is a database and not a collection.
func isDatabase(ns string) bool { return ns != "" && !strings.Contains(ns, ".") }

// primaryText is what a write of the catalog says of a database: a trace has its primary shard as
// the owner of all there is.
func primaryText(e *trace.Event) string {
	c := &e.Chunks[0]
	return fmt.Sprintf("the primary shard of database %s is %s from now on, version %d|%d",
		e.NS, c.Shard, c.Major, c.Minor)
}

// beliefText is what a node has learnt that its shard owns, or is for a database.
func beliefText(e *trace.Event) string {
	switch {
	case !isDatabase(e.NS):
		return "it owns " + rangeTexts(e.Chunks)
	case len(e.Chunks) == 0:
		return "its shard is not the primary shard of database " + e.NS
	}
	return "its shard is the primary shard of database " + e.NS
}

// chanceText tells what chance did to a message, or to a node at a place.
func chanceText(e *trace.Event) string {
	amount := ""
	if isDelay(e) {
		amount = " by " + time.Duration(e.Answer()).Round(10*time.Microsecond).String()
	}
	if e.Peer == "" {
		return fmt.Sprintf("random fault: %s%s on %s at %s",
			e.Question(), amount, e.Node, e.Place())
	}
	return fmt.Sprintf("random fault: %s%s of %s from %s to %s",
		e.Question(), amount, e.Place(), e.Node, e.Peer)
}

func appliedText(e *trace.Event) string {
	verb := "writes"
	if e.Hash == 0 {
		verb = "deletes"
	}
	text := fmt.Sprintf("%s %s %s, index %d", e.Node, verb, key.Key(e.Key), e.Index)
	return text + ", for " + onBehalf(e)
}

// executedText tells what goes on record of a session.
func executedText(e *trace.Event) string {
	if e.Statement() < 0 {
		return fmt.Sprintf("%s records that its history of transaction %d of %s has a gap, for %s",
			e.Node, e.Txn(), e.Session(), onBehalf(e))
	}
	return fmt.Sprintf("%s records statement %d of transaction %d of %s, for %s",
		e.Node, e.Statement(), e.Txn(), e.Session(), onBehalf(e))
}

// onBehalf says for whom something was written.
func onBehalf(e *trace.Event) string {
	switch e.Actor {
	case trace.User:
		return "a client"
	case trace.System:
		return "the server itself"
	case trace.Session:
		return "the transfer of session history"
	case trace.RangeDeleter:
		return "the range deleter"
	}
	return "the " + e.Actor.String()
}

// balancerText tells what the balancer does, or is told to.
func balancerText(e *trace.Event) string {
	switch e.Kind {
	case trace.BalancerChose:
		why := e.Why()
		if why == trace.AtRandom {
			why = "at random, by no policy (a setting of the scenario)"
		}
		return fmt.Sprintf("the balancer requests the migration of %s from %s to %s (%s): %s",
			requestedText(e), e.Shard, e.Peer, e.Request(), why)
	case trace.BalancerState:
		closed := ""
		if e.Closed() {
			closed = ", and nothing that it has asked for is committed"
		}
		return "the balancer's mode is set to " + e.State() + windowText(e.Window()) + closed
	case trace.BalancerRound:
		return fmt.Sprintf("round %d of the balancer on %s has %s", e.Round(),
			e.Node, e.RoundPhase())
	case trace.BalancerQueued:
		return "the balancer is about to make request " + e.Request()
	case trace.BalancerDone:
		return "the balancer's request " + e.Request() + " has ended: " + e.Outcome()
	case trace.BalancerStopped:
		return "the balancer acknowledges a stop"
	}
	return ""
}

// windowText is the balancer's active window, where it has one.
func windowText(window string) string {
	if window == "" {
		return ""
	}
	return ", its window to " + window
}

// changeText is what operators change about shards, zones and collections.
func changeText(e *trace.Event) string {
	zones := "zone " + e.Zones()
	if e.Zones() == "" {
		zones = "no zone"
	}
	switch e.ClusterChange() {
	case trace.ShardAdded:
		return e.Peer + " becomes a shard, of " + zones + limitText(e)
	case trace.ShardDraining:
		return e.Peer + " drains from now on"
	case trace.ShardRemoved:
		return e.Peer + " is no shard any more"
	case trace.ShardZones:
		return e.Peer + " is of " + zones + limitText(e) + " from now on"
	case trace.ZoneRange:
		return fmt.Sprintf("%s of %s is of %s from now on", rangeText(e), e.NS, zones)
	case trace.BalancingOn:
		return "the balancer may move chunks of " + e.NS + " from now on"
	case trace.BalancingOff:
		return "the balancer may not move chunks of " + e.NS + " from now on"
	}
	return e.State()
}

// limitText is how much data a shard may have, where that is limited.
func limitText(e *trace.Event) string {
	if e.MaxBytes() == 0 {
		return ""
	}
	return fmt.Sprintf(" and at most %d bytes", e.MaxBytes())
}

// requestedText is the range of a request, which may leave its end to the donor.
func requestedText(e *trace.Event) string {
	if e.Max == "" {
		return "a range starting at " + key.Key(e.Min).String()
	}
	return rangeText(e)
}

func rangeText(e *trace.Event) string {
	return key.Range{Min: key.Key(e.Min), Max: key.Key(e.Max)}.String()
}

// chunksTold is how many chunks of a write are told.
const chunksTold = 4

func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func chunkText(of []trace.Chunk) string {
	var texts []string
	for _, c := range of {
		text := fmt.Sprintf("[%s, %s) on %s %d|%d",
			key.Key(c.Min), key.Key(c.Max), c.Shard, c.Major, c.Minor)
		if c.Jumbo {
			text += ", jumbo"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// rangeTexts are the chunks without whose they are.
func rangeTexts(of []trace.Chunk) string {
	if len(of) == 0 {
		return "nothing"
	}
	var texts []string
	for _, c := range of {
		texts = append(texts, key.Range{Min: key.Key(c.Min), Max: key.Key(c.Max)}.String())
	}
	return strings.Join(texts, ", ")
}
