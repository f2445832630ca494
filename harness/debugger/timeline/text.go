package timeline

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// CatalogText is the routing tables, a line for each chunk.
func (f *Frame) CatalogText() string {
	var b strings.Builder
	for _, p := range f.Catalog {
		fmt.Fprintf(&b, "%s\n", p.NS)
		if p.Wrong != "" {
			fmt.Fprintf(&b, "  no table: %s\n", p.Wrong)
		}
		for _, c := range p.Chunks {
			fmt.Fprintf(&b, "  %-28s %-8s %d|%d\n", Span(c.Min, c.Max), c.Shard, c.Major, c.Minor)
		}
	}
	return b.String()
}

// NodesText is a line for each node.
func (f *Frame) NodesText() string {
	var b strings.Builder
	for i := range f.Nodes {
		b.WriteString("  " + f.Nodes[i].headline() + "\n")
	}
	return b.String()
}

func (n *Node) headline() string {
	text := fmt.Sprintf("%-11s ", n.Name)
	switch {
	case !n.Up:
		return text + "down"
	case n.Set == Router:
		text += "router"
	case n.Writable:
		text += fmt.Sprintf("primary   term %d  applied %s  majority %s",
			n.Term, n.Applied, n.Committed)
	case n.Leading:
		text += fmt.Sprintf("stepping up  term %d  applied %s  majority %s",
			n.Term, n.Applied, n.Committed)
	default:
		text += fmt.Sprintf("secondary term %d  applied %s  majority %s",
			n.Term, n.Applied, n.Committed)
	}
	for _, k := range n.Knows {
		for _, s := range k.Sections {
			text += "  critical section: " + s
		}
	}
	if len(n.Doing) > 0 {
		text += "  " + strings.Join(n.Doing, ", ")
	}
	return text
}

// Router is the Set of routers.
const Router = "router"

// Text is everything of one node.
func (n *Node) Text() string {
	var b strings.Builder
	b.WriteString(n.headline() + "\n")
	for _, k := range n.Knows {
		b.WriteString("  " + k.text(n.Set) + "\n")
		for _, s := range k.Sections {
			fmt.Fprintf(&b, "    critical section: %s\n", s)
		}
		if len(k.Documents) > 0 {
			fmt.Fprintf(&b, "    %d documents: %s\n", len(k.Documents), documents(k.Documents))
		}
	}
	for _, r := range n.Records {
		fmt.Fprintf(&b, "  record: %s\n", r)
	}
	if n.Cursors > 0 {
		fmt.Fprintf(&b, "  %d open cursors\n", n.Cursors)
	}
	return b.String()
}

func (b *Belief) text(set string) string {
	if !b.Known {
		return b.NS + ": has no metadata"
	}
	var parts []string
	for _, c := range b.Owned {
		part := Span(c.Min, c.Max)
		if set == Router {
			part += " on " + c.Shard
		}
		parts = append(parts, part)
	}
	if parts == nil {
		parts = []string{"nothing"}
	}
	return fmt.Sprintf("%s: version %s, owns %s", b.NS, b.Version, strings.Join(parts, ", "))
}

func documents(of []bson.Raw) string {
	const most = 40
	var parts []string
	for i, doc := range of {
		if i == most {
			return strings.Join(parts, " ") + fmt.Sprintf(" and %d more", len(of)-most)
		}
		parts = append(parts, fmt.Sprintf("%v=%s", numberOf(doc), Value(doc)))
	}
	return strings.Join(parts, " ")
}

// numberOf is the number by which clients know a document.
func numberOf(doc bson.Raw) int64 {
	id, _ := doc.Lookup("_id").AsInt64OK()
	k, _ := doc.Lookup("k").AsInt64OK()
	return scenario.KeyOf(id, k)
}

// Value is what a document holds besides its keys: the identity of its last write, and its list.
func Value(doc bson.Raw) string {
	if doc == nil {
		return "no document"
	}
	v, _ := doc.Lookup("v").StringValueOK()
	list, ok := doc.Lookup("l").ArrayOK()
	if !ok {
		return v
	}
	values, err := list.Values()
	if err != nil {
		return v + " [damaged]"
	}
	var items []string
	for _, item := range values {
		items = append(items, item.StringValue())
	}
	return v + "[" + strings.Join(items, " ") + "]"
}

// KeyText is who owns a key of a collection and what everyone has of it: by the catalog, by each
// member and router.
func (f *Frame) KeyText(ns string, k int64) string {
	var b strings.Builder
	for i := range f.Catalog {
		p := &f.Catalog[i]
		if p.NS != ns {
			continue
		}
		place := p.Shard(k)
		fmt.Fprintf(&b, "%s k=%d  catalog: %s\n", ns, k, orNobody(p.Owner(place)))
		for j := range f.Nodes {
			if line := f.Nodes[j].of(p, place, k); line != "" {
				fmt.Fprintf(&b, "  %-11s %s\n", f.Nodes[j].Name, line)
			}
		}
	}
	return b.String()
}

func orNobody(shard string) string {
	if shard == "" {
		return "nobody"
	}
	return shard
}

// of is what the node believes and has of a key.
func (n *Node) of(p *Placement, place key.Key, k int64) string {
	b := n.Of(p.NS)
	switch {
	case !n.Up && n.Set != configSet:
		return "down"
	case !n.Up || n.Set == configSet:
		return ""
	case n.Set == Router && !b.Known:
		return "knows no owner"
	case n.Set == Router:
		return "sends to " + orNobody(ownerIn(b.Owned, place)) + " at " + b.Version
	}
	text := "has " + Value(b.Document(k))
	switch {
	case !b.Known:
		text += ", does not know whether it owns it"
	case ownerIn(b.Owned, place) != "":
		text += ", owns it at " + b.Version
	default:
		text += ", does not own it at " + b.Version
	}
	if n.Writable {
		text += "  (primary)"
	}
	for _, s := range b.Sections {
		text += "  critical section: " + s
	}
	return text
}

// configSet is the config server's replica set.
const configSet = "config"

// Text is the migration in a few lines.
func (m *Migration) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %s → %s, since step %d\n",
		m.ID, m.NS, Span(m.Min, m.Max), m.From, m.To, m.Began)
	for _, part := range []struct{ name, value string }{
		{"donor", m.Donor}, {"recipient", m.Recipient}, {"decision", m.Decision},
		{"ended", m.Outcome}, {"sections", strings.Join(m.Sections, ", ")},
		{"deletions", strings.Join(m.Deletions, ", ")},
	} {
		if part.value != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", part.name, part.value)
		}
	}
	return b.String()
}

// Span is a range of encoded keys for people; empty for none.
func Span(lo, hi string) string {
	if lo == hi {
		return ""
	}
	return key.Range{Min: key.Key(lo), Max: key.Key(hi)}.String()
}

// Chunks are ranges as chunks of a shard.
func Chunks(shard string, of []key.Range) (all []trace.Chunk) {
	for _, r := range of {
		all = append(all, trace.Chunk{Min: string(r.Min), Max: string(r.Max), Shard: shard})
	}
	return all
}
