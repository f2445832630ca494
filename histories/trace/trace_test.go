package trace

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// every calls each with the states of a type, from 0 on, until one has no name.
func every[T interface {
	~uint8
	String() string
}](t *testing.T, parse func(string) (T, bool), want int) {
	t.Helper()
	seen := map[string]bool{}
	for s := T(1); s.String() != ""; s++ {
		if seen[s.String()] {
			t.Errorf("%T: %q is the name of two", s, s)
		}
		seen[s.String()] = true
		if got, known := parse(s.String()); !known || got != s {
			t.Errorf("%T: %q is read as %d, not %d", s, s, got, s)
		}
	}
	if len(seen) != want {
		t.Errorf("%T has %d names, not %d", T(0), len(seen), want)
	}
	for _, no := range []string{"", "kUnknown", "Done "} {
		if got, known := parse(no); known || got != 0 {
			t.Errorf("%T: %q is read as %d", got, no, got)
		}
	}
	if T(0).String() != "" || T(200).String() != "" {
		t.Errorf("%T: what is no state has a name", T(0))
	}
}

// TestNames: every state has one name, which is read back as the state; nothing else is read.
func TestNames(t *testing.T) {
	every(t, ParseDonorState, int(DonorDone))
	every(t, ParseRecipientState, int(RecipientAbort))
	every(t, ParseDecision, int(Aborted))
	every(t, ParseSectionState, int(ReadsBlocked))
	every(t, ParseDeletionState, int(DeletionDropped))
	every(t, ParsePrimaryMovePhase, int(PrimaryAborted))
	every(t, ParseBalancerMode, int(BalancerAutoSplitOnly))
	every(t, ParseRoundPhase, int(RoundEnded))
	every(t, ParseClusterChange, int(BalancingOff))
	every(t, ParseCursorState, int(CursorLost))
	for k := Kind(1); k < kinds; k++ {
		if got, known := ParseKind(k.String()); !known || got != k {
			t.Errorf("%s is read as %s", k, got)
		}
	}
	if _, known := ParseKind(""); known || Kind(0).String() != "kind-unknown" ||
		kinds.String() != "kind-unknown" {
		t.Error("what is no kind has a name")
	}
	for a := Nobody; a <= System; a++ {
		if a.String() == "actor-unknown" {
			t.Errorf("actor %d has no name", a)
		}
	}
}

// TestWindows lists the states by what they have in common.
func TestWindows(t *testing.T) {
	var got []string
	for _, s := range DonorStates() {
		got = append(got, mark(s.String(), s.CommitWindow(), s.Terminal(), false, false))
	}
	for _, s := range RecipientStates() {
		got = append(got, mark(s.String(), s.CommitWindow(), s.Terminal(), s.Open(), s.Receiving()))
	}
	for p := PrimaryCloning; p <= PrimaryAborted; p++ {
		got = append(got, mark(p.String(), p.CommitWindow(), p.Terminal(), false, false))
	}
	want := `kCreated kCloning kCloneCaughtUp kCriticalSection:commit kCloneCompleted:commit
kCommittingOnConfig:commit kDone:end
kReady:open kClone:open:receives kCatchup:open:receives kSteady:open:receives
kCommitStart:commit:open:receives kEnteredCritSec:commit:open:receives kExitCritSec
kDone:end kFail:end kAbort:end
clone catchup:commit enterCriticalSection:commit commit:commit exitCriticalSection clean done:end
aborted:end`
	if text := strings.Join(got, " "); text != strings.ReplaceAll(want, "\n", " ") {
		t.Errorf("got %s", text)
	}
	if !DeletionDone.Terminal() || DeletionReady.Terminal() || !SectionReleased.Terminal() {
		t.Error("a deletion or a section ends with another state")
	}
}

func mark(name string, commit, end, open, receives bool) string {
	for _, m := range []struct {
		is   bool
		text string
	}{{commit, ":commit"}, {end, ":end"}, {open, ":open"}, {receives, ":receives"}} {
		if m.is {
			name += m.text
		}
	}
	return name
}

// TestCatalogChange takes texts apart and puts them together.
func TestCatalogChange(t *testing.T) {
	for text, want := range map[string]struct {
		change  CatalogChange
		subject string
	}{
		"drop":               {Dropped, ""},
		"split":              {Split, ""},
		"move shard-a/1/2":   {ChunkMoved, "shard-a/1/2"},
		"movePrimary m":      {PrimaryMoved, "m"},
		"renameFrom test.a":  {RenamedFrom, "test.a"},
		"move":               {0, ""},
		"drop test.docs":     {0, ""},
		"shardCollection":    {0, ""},
		"forbidMigrations":   {ForbidsMigrations, ""},
		"something moves on": {0, ""},
	} {
		change, subject := ParseCatalogChange(text)
		if change != want.change || subject != want.subject {
			t.Errorf("%q is read as %q of %q", text, change, subject)
		}
		if change.HasSubject() && change.Of(subject) != text {
			t.Errorf("%q is written as %q", text, change.Of(subject))
		}
	}
}

// full is every payload with all its fields set to something.
func full() (all []*Event) {
	for _, p := range []interface{ Event() *Event }{
		&NodeUpEvent{}, &NodeDownEvent{}, &ProcessAbortedEvent{}, &FaultEvent{}, &RepairEvent{},
		&PointHitEvent{}, &ReachedEvent{}, &ElectedEvent{}, &WritableEvent{}, &SteppedDownEvent{},
		&MajorityEvent{}, &RolledBackEvent{}, &AppliedEvent{}, &ExecutedEvent{},
		&CatalogWrittenEvent{}, &MetadataInstalledEvent{}, &MetadataClearedEvent{},
		&CriticalSectionEvent{}, &CursorOpenedEvent{}, &CursorClosedEvent{},
		&MigrationRequestedEvent{}, &DonorAdvancedEvent{}, &RecipientAdvancedEvent{},
		&DecisionMadeEvent{}, &MigrationEndedEvent{}, &RangeDeletionEvent{}, &PrimaryMovingEvent{},
		&BalancerRoundEvent{}, &BalancerChoseEvent{}, &BalancerQueuedEvent{}, &BalancerDoneEvent{},
		&BalancerStateEvent{},
		&BalancerStoppedEvent{}, &ClusterChangedEvent{}, &EntryChangedEvent{}, &AnsweredEvent{},
		&CallEndedEvent{},
		&CursorAnsweredEvent{}, &WeighedEvent{}, &MoveAskedEvent{}, &SplitAskedEvent{},
		&SplitFoundEvent{}, &SplitBegunEvent{}, &SplitMadeEvent{}, &ChanceEvent{},
		&ExchangedEvent{},
	} {
		v := reflect.ValueOf(p).Elem()
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name)
		}
		all = append(all, p.Event())
	}
	return all
}

func fill(f reflect.Value, name string) {
	switch f.Kind() {
	case reflect.String:
		f.SetString(name)
	case reflect.Int, reflect.Int64:
		f.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		f.SetUint(1)
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Slice:
		switch f.Type() {
		case reflect.TypeFor[[]string]():
			f.Set(reflect.ValueOf([]string{"a", "b"}))
			return
		case reflect.TypeFor[[]Carried]():
			f.Set(reflect.ValueOf([]Carried{{DocID: "\x01", Hash: 5}}))
			return
		case reflect.TypeFor[[]Passage]():
			f.Set(reflect.ValueOf([]Passage{{Site: "a.b", At: 6}}))
			return
		}
		f.Set(reflect.ValueOf([]Chunk{{
			Min: "\x00", Max: "\xff", Shard: "s", Major: 1, Minor: 2, Epoch: "e",
			History: []Placement{{ValidAfter: 3, Shard: "s"}},
		}}))
	}
}

// TestFiles: every kind keeps all that it has in a file, under names of its own.
func TestFiles(t *testing.T) {
	events := full()
	if len(events) != int(kinds)-1 {
		t.Fatalf("%d kinds have a payload, and there are %d", len(events), kinds-1)
	}
	for i, e := range events {
		if e.Kind != Kind(i+1) {
			t.Errorf("payload %d is of kind %s", i, e.Kind)
		}
		e.Step, e.At, e.Node = 7, 8, "n"
		e.SetClock(func() int64 { return 9 })
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(*e, got) {
			t.Errorf("%v: %s is read back as %+v", err, text, got)
		}
	}
}

// TestExchanged: what was said, brought and passed is what is read back, also of an exchange
// without any.
func TestExchanged(t *testing.T) {
	for _, p := range []ExchangedEvent{
		{Request: "Hello"},
		{
			Request: "TransferMods", Arguments: []string{"Number 1", "Final"}, Answer: "Mods Deletes (1)",
			Carried: []Carried{{"a", 0}, {"b", 7}}, Passed: []Passage{{"x.y", 3}, {"x.y", 5}},
			Arrived: 2,
		},
	} {
		e := p.Event()
		got := ExchangedEvent{
			Request: e.Asked(), Carried: e.Carried(), Passed: e.Passed(), Arrived: e.Arrived(),
		}
		_, got.Answer = e.Said()
		for _, name := range []string{"Number", "Final", "Num", ""} {
			if value, given := e.Argument(name); given {
				got.Arguments = append(got.Arguments, strings.TrimSpace(name+" "+value))
			}
		}
		if !reflect.DeepEqual(got, p) {
			t.Errorf("%+v is read back as %+v", p, got)
		}
	}
}

// TestRefusedLines: what no event of its kind has is refused.
func TestRefusedLines(t *testing.T) {
	for text, want := range map[string]string{
		`{"step":1,"kind":"drop"}`:                              `unknown kind of event "drop"`,
		`{"step":1,"kind":"donor-state","state":"kClonning"}`:   `has no state "kClonning"`,
		`{"step":1,"kind":"donor-state","decision":"aborted"}`:  `donor-state has no "decision"`,
		`{"step":1,"kind":"range-deletion","orphans":"many"}`:   "cannot unmarshal",
		`{"step":"one","kind":"majority"}`:                      "cannot unmarshal",
		`{"step":1,"kind":"balancer-round","phase":"underway"}`: `has no phase "underway"`,
	} {
		err := json.Unmarshal([]byte(text), new(Event))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
	for _, e := range []*Event{{}, {Kind: Majority, subject: "nobody's"}} {
		if text, err := json.Marshal(e); err == nil {
			t.Errorf("%+v is written as %s", e, text)
		}
	}
}

// TestWhatKindsHave: a question that a kind has no answer to is answered with nothing.
func TestWhatKindsHave(t *testing.T) {
	questions := reflect.TypeFor[*Event]()
	for _, e := range full() {
		for i := range questions.NumMethod() {
			m := questions.Method(i)
			if m.Type.NumIn() != 1 || m.Type.NumOut() != 1 || m.Name == "State" {
				continue
			}
			got := m.Func.Call([]reflect.Value{reflect.ValueOf(e)})[0]
			if name := m.Name; !got.IsZero() && !has(e.Kind, name) {
				t.Errorf("a %s has %s %v", e.Kind, name, got)
			}
		}
	}
}

// has says whether a kind has what a method of Event asks for; methods of several names are listed.
func has(k Kind, method string) bool {
	switch method {
	case "Migration":
		return map[Kind]bool{
			PointHit:           true,
			Applied:            true,
			Executed:           true,
			CatalogWritten:     true,
			CriticalSection:    true,
			MigrationRequested: true,
			DonorAdvanced:      true,
			RecipientAdvanced:  true,
			DecisionMade:       true,
			MigrationEnded:     true,
			RangeDeletion:      true,
			PrimaryMoving:      true,
		}[k]
	case "Session":
		return k == Applied || k == Executed
	case "StepFailed":
		return k == PointHit
	case "For":
		return k == Applied
	}
	names := map[string][]Kind{
		"Cursor":           {CursorOpened, CursorClosed, CursorAnswered},
		"Asked":            {Answered, CallEnded, Exchanged},
		"Carried":          {Exchanged},
		"Passed":           {Exchanged},
		"Code":             {Answered, CallEnded, SplitMade},
		"Arrived":          {Answered, CursorAnswered, SplitFound, Exchanged},
		"Bytes":            {Weighed},
		"Asking":           {MoveAsked},
		"ChunkBytes":       {SplitFound, SplitBegun},
		"Sent":             {CallEnded, SplitBegun},
		"CursorState":      {CursorAnswered},
		"Log":              {Elected},
		"Window":           {BalancerState},
		"Request":          {MigrationRequested, BalancerQueued, BalancerChose, BalancerDone, MoveAsked},
		"Zones":            {ClusterChanged},
		"Fields":           {EntryChanged},
		"MaxBytes":         {ClusterChanged},
		"Place":            {Chance},
		"FaultKind":        {Fault, Repair},
		"FaultNumber":      {Fault, Repair},
		"Site":             {PointHit},
		"Probe":            {Reached},
		"ProbeNumber":      {Reached},
		"Question":         {Chance},
		"Answer":           {Chance},
		"Why":              {ProcessAborted, CatalogWritten, EntryChanged, BalancerChose},
		"Version":          {MetadataInstalled},
		"Change":           {CatalogWritten},
		"FormerName":       {CatalogWritten},
		"ClusterTime":      {CatalogWritten},
		"ClusterChange":    {ClusterChanged},
		"Statement":        {Executed},
		"Txn":              {Executed},
		"DonorState":       {DonorAdvanced},
		"RecipientState":   {RecipientAdvanced},
		"Decision":         {DecisionMade, MigrationEnded},
		"Recovered":        {MigrationEnded},
		"Closed":           {BalancerState},
		"SectionState":     {CriticalSection},
		"DeletionState":    {RangeDeletion},
		"Orphans":          {RangeDeletion},
		"PrimaryMovePhase": {PrimaryMoving},
		"Round":            {BalancerRound},
		"RoundPhase":       {BalancerRound},
		"BalancerMode":     {BalancerState},
		"Outcome":          {BalancerDone},
		"LocalTime":        {BalancerChose},
		"AheadOfUTC":       {BalancerChose},
	}
	for _, of := range names[method] {
		if of == k {
			return true
		}
	}
	return false
}
