package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/histories/opkind"
)

// header is the first line of every scenario text, followed by the schema. In texts that are not
// written by hand it says that the last line is lastLine, so that a text that was cut is not a
// smaller scenario that passes.
const (
	header   = "shardproof scenario"
	untilEnd = " until end"
	lastLine = "end"
)

// The bounds that have names instead of numbers.
const (
	MinKey = math.MinInt64
	MaxKey = math.MaxInt64
)

// String is the scenario as text, one fact a line up to the line that ends it; Parse reads it back.
func (s *Scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d%s\n", header, Schema, untilEnd)
	s.printFrame(&b)
	printItems(&b, s.Ops, Op.String)
	printItems(&b, s.Migrations, Migration.String)
	printItems(&b, s.Commands, Command.String)
	printItems(&b, s.Primaries, MovePrimary.String)
	printItems(&b, s.Streams, Stream.String)
	printItems(&b, s.Faults, Fault.String)
	printItems(&b, s.Decisions, Decision.String)
	b.WriteString(lastLine + "\n")
	return b.String()
}

func (s *Scenario) printFrame(b *strings.Builder) {
	if s.Name != "" {
		fmt.Fprintf(b, "name %s\n", quoteWord(s.Name))
	}
	fmt.Fprintf(b, "seed %d\n", s.Seed)
	if s.Planned {
		b.WriteString("planned\n")
	}
	if s.Target != "" {
		fmt.Fprintf(b, "target %s\n", quoteWord(s.Target))
	}
	if s.Protocol != "" {
		fmt.Fprintf(b, "protocol %s\n", quoteWord(s.Protocol))
	}
	fmt.Fprintf(b, "%s\n", s.Topology)
	if s.Balancer {
		b.WriteString("balancer on\n")
	}
	fmt.Fprintf(b, "faults-end %s\nlimit %s\n", s.FaultsEnd, s.Limit)
	for _, c := range s.Collections {
		fmt.Fprintf(b, "%s\n", c)
	}
	s.printSettings(b)
}

// String is the setting's line.
func (v Setting) String() string {
	return fmt.Sprintf("set %s %s", quoteWord(v.Name), quoteWord(v.Value))
}

func printItems[T any](b *strings.Builder, items []T, text func(T) string) {
	if len(items) > 0 {
		b.WriteByte('\n')
	}
	for _, item := range items {
		b.WriteString(text(item))
		b.WriteByte('\n')
	}
}

// String is the topology's line.
func (t Topology) String() string {
	text := fmt.Sprintf("topology shards=%d members=%d config=%d routers=%d clients=%d",
		t.Shards, t.Members, t.ConfigMembers, t.Routers, t.Clients)
	if t.Spare > 0 {
		text += fmt.Sprintf(" spare=%d", t.Spare)
	}
	return text
}

// Place is the value of the shard key of the document with a key.
func (c Collection) Place(key int64) int64 {
	if c.Share <= 1 {
		return key
	}
	return key - key%int64(c.Share)
}

// ID is the _id of the document with a key.
func (c Collection) ID(key int64) int64 {
	if c.IDs == 0 {
		return key
	}
	return -1 - key%int64(c.IDs)
}

// Shared says whether another key has the same _id.
func (c Collection) Shared(key int64) bool {
	return c.IDs > 0 && (key >= int64(c.IDs) || key < int64(c.Keys-c.IDs))
}

// KeyOf is the key of the document with an _id and a value of k.
func KeyOf(id, k int64) int64 {
	if id < 0 {
		return k
	}
	return id
}

// String is the collection's line.
func (c Collection) String() string {
	kind := "ranged"
	switch {
	case c.Unsharded:
		kind = "unsharded"
	case c.Hashed:
		kind = "hashed"
	}
	line := fmt.Sprintf("collection %s %s keys=%d preload=%d",
		quoteWord(c.NS), kind, c.Keys, c.Preload)
	if len(c.Bounds) > 0 {
		line += " bounds=" + c.bounds()
	}
	if c.Owners != 0 {
		line += fmt.Sprintf(" owners=%d", c.Owners)
	}
	if c.Made != "" {
		line += " made=" + quoteWord(c.Made)
	}
	if c.Initial != 0 {
		line += fmt.Sprintf(" initial=%d", c.Initial)
	}
	switch {
	case c.By != "" && c.Hashed:
		line += " by=" + ByHash
	case c.By != "":
		line += " by=" + quoteWord(c.By)
	}
	if c.Share != 0 {
		line += fmt.Sprintf(" share=%d", c.Share)
	}
	if c.IDs != 0 {
		line += fmt.Sprintf(" ids=%d", c.IDs)
	}
	if c.Absent {
		line += " absent"
	}
	return line
}

func (c Collection) bounds() string {
	bounds := make([]string, len(c.Bounds))
	for i, v := range c.Bounds {
		bounds[i] = strconv.FormatInt(v, 10)
	}
	return strings.Join(bounds, ",")
}

// String is the operation's line.
func (o Op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "op %d at %s client %d %s %s", o.ID, o.At, o.Client, o.Kind, quoteWord(o.NS))
	kind := o.Kind.Of()
	switch {
	case kind.Shape == opkind.Ranged:
		fmt.Fprintf(&b, " %s batch=%d", rangeText(o.Key, o.To), o.Batch)
	case !o.Kind.Whole():
		fmt.Fprintf(&b, " k=%d", o.Key)
	}
	switch {
	case kind.Expects() && o.Expect == "":
		b.WriteString(" if-absent")
	case kind.Expects():
		b.WriteString(" if=" + quoteWord(o.Expect))
	}
	if o.Value != "" {
		b.WriteString(" v=" + quoteWord(o.Value))
	}
	if o.Rest != 0 {
		fmt.Fprintf(&b, " rest=%s", o.Rest)
	}
	if o.Concern != "" {
		b.WriteString(" concern=" + quoteWord(o.Concern))
	}
	if o.Prefer != "" {
		b.WriteString(" prefer=" + quoteWord(o.Prefer))
	}
	if o.Age != 0 {
		fmt.Fprintf(&b, " age=%s", o.Age)
	}
	if o.W != 0 {
		fmt.Fprintf(&b, " w=%d", o.W)
	}
	if o.WTimeout != 0 {
		fmt.Fprintf(&b, " wtimeout=%s", o.WTimeout)
	}
	if o.Into != "" {
		b.WriteString(" into=" + quoteWord(o.Into))
	}
	if o.Causal {
		b.WriteString(" causal")
	}
	if o.Batched {
		b.WriteString(" batched")
	}
	if o.Together {
		b.WriteString(" together")
	}
	if o.DropTarget {
		b.WriteString(" drop-target")
	}
	return b.String()
}

// String is the migration's line.
func (m Migration) String() string {
	line := fmt.Sprintf("move %d at %s %s %s to %s",
		m.ID, m.At, quoteWord(m.NS), rangeText(m.Min, m.Max), ShardName(m.To))
	if m.WaitDelete {
		line += " wait-delete"
	}
	if m.Open != "" {
		line += " open=" + quoteWord(m.Open)
	}
	if m.ForceJumbo != "" {
		line += " force-jumbo=" + quoteWord(m.ForceJumbo)
	}
	if m.Throttle != "" {
		line += " throttle=" + quoteWord(m.Throttle)
	}
	return line
}

// String is the line of the move of a primary.
func (m MovePrimary) String() string {
	return fmt.Sprintf("move-primary %d at %s %s to %s",
		m.ID, m.At, quoteWord(m.Database), ShardName(m.To))
}

// String is the stream's line.
func (w Stream) String() string {
	line := fmt.Sprintf("stream %d at %s %s poll=%s", w.ID, w.At, quoteWord(w.NS), w.Poll)
	for _, f := range []struct {
		name  string
		value int
	}{{"batch", w.Batch}, {"resume", w.Resume}, {"back", w.Back}} {
		if f.value != 0 {
			line += fmt.Sprintf(" %s=%d", f.name, f.value)
		}
	}
	return line
}

// String is the fault's line.
func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "fault %d at %s %s %s", f.ID, f.When, quoteWord(f.Kind), quoteWord(f.Target))
	for _, a := range f.Args {
		fmt.Fprintf(&b, " %s=%s", quoteWord(a.Name), quoteWord(a.Value))
	}
	if f.For != 0 {
		fmt.Fprintf(&b, " for %s", f.For)
	}
	if f.Until != nil {
		fmt.Fprintf(&b, " until %s", *f.Until)
	}
	return b.String()
}

// String is the trigger as it stands in a line.
func (t Trigger) String() string {
	if t.Site == "" {
		return t.At.String()
	}
	text := fmt.Sprintf("%s #%d", quoteWord(t.Site), t.Nth)
	if t.After != 0 {
		text += " after " + t.After.String()
	}
	if t.Node != "" {
		text += " by " + quoteWord(t.Node)
	}
	return text
}

// String is the decision's line.
func (d Decision) String() string {
	return fmt.Sprintf("decide %s %s #%d = %d",
		quoteWord(d.Kind), quoteWord(d.Site), d.Occurrence, d.Answer)
}

// ShardName is the name of the shard with that number: shard-a, shard-b, and so on to shard-z.
func ShardName(n int) string { return "shard-" + string(rune('a'+n)) }

func shardNumber(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, "shard-")
	if !ok || len(rest) != 1 || rest[0] < 'a' || rest[0] > 'z' {
		return 0, false
	}
	return int(rest[0] - 'a'), true
}

func rangeText(lo, hi int64) string { return "[" + boundText(lo) + ", " + boundText(hi) + ")" }

func boundText(v int64) string {
	switch v {
	case MinKey:
		return "MinKey"
	case MaxKey:
		return "MaxKey"
	}
	return strconv.FormatInt(v, 10)
}

// quoteWord quotes a text that would not be read back as one word.
func quoteWord(s string) string {
	if s == "" || s[0] == '#' || s[0] == '[' {
		return strconv.Quote(s)
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == '=' || c == '"' || c > '~' {
			return strconv.Quote(s)
		}
	}
	return s
}

// startsAsTime tells a time from a site: sites are names, and names start with no digit.
func startsAsTime(s string) bool { return s != "" && (s[0] >= '0' && s[0] <= '9' || s[0] == '-') }
