package harness

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system/key"
)

// tell is an event in one line for people.
func tell(e *event.Event) string {
	switch e.Kind {
	case event.Fault:
		return fmt.Sprintf("FAULT %d %s %s", e.N, e.Value, e.Peer)
	case event.Repair:
		return fmt.Sprintf("fault %d %s %s ends", e.N, e.Value, e.Peer)
	case event.NodeDown:
		return e.Node + " crashes"
	case event.Elected:
		return fmt.Sprintf("%s becomes primary of %s, term %d", e.Node, e.Shard, e.Term)
	case event.SteppedDown:
		return fmt.Sprintf("%s is no longer primary of %s", e.Node, e.Shard)
	case event.RolledBack:
		return fmt.Sprintf("%s rolls back to index %d", e.Node, e.Index)
	case event.DonorState:
		return fmt.Sprintf("migration %s %s %s → %s: donor %s", e.ID, span(e), e.Shard, e.Peer, e.Value)
	case event.RecipientState:
		return fmt.Sprintf("migration %s %s: recipient %s %s", e.ID, span(e), e.Node, e.Value)
	case event.DecisionMade, event.MigrationEnded:
		return fmt.Sprintf("migration %s: %s %s on %s", e.ID, e.Kind, e.Value, e.Node)
	case event.CriticalSection:
		return fmt.Sprintf("critical section of %s on %s: %s", e.Actor, e.Node, e.Value)
	case event.RangeDeletion:
		return fmt.Sprintf("range deletion %s %s on %s: %s", e.ID, span(e), e.Node, e.Value)
	case event.PrimaryMoving:
		return fmt.Sprintf("movePrimary %s of %s %s → %s: %s", e.ID, e.NS, e.Shard, e.Peer, e.Value)
	case event.CatalogWritten:
		return "config: " + e.Value + " " + chunks(e.Chunks)
	case event.Applied:
		return applied(e)
	case event.Executed:
		return fmt.Sprintf("%s has statement %d of transaction %d of %s on record, for %s", e.Node, e.N, e.Txn, e.ID, e.Actor)
	case event.CursorOpened, event.CursorClosed:
		return fmt.Sprintf("%s %s %s on %s", e.Kind, e.ID, span(e), e.Node)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Node, e.Kind, e.Value, e.ID))
}

func applied(e *event.Event) string {
	verb := "writes"
	if e.Hash == 0 {
		verb = "deletes"
	}
	text := fmt.Sprintf("%s %s %s, index %d", e.Node, verb, key.Key(e.Key), e.Index)
	if e.Actor != event.User {
		text += ", for " + e.Actor.String()
	}
	return text
}

func span(e *event.Event) string {
	return key.Range{Min: key.Key(e.Min), Max: key.Key(e.Max)}.String()
}

func chunks(of []event.Chunk) string {
	var texts []string
	for _, c := range of {
		texts = append(texts, fmt.Sprintf("[%s, %s) on %s %d|%d", key.Key(c.Min), key.Key(c.Max), c.Shard, c.Major, c.Minor))
	}
	return strings.Join(texts, ", ")
}
