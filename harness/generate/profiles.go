package generate

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Profile is a way to draw scenarios.
type Profile struct {
	// Name is how the command line calls it, About what it aims at.
	Name, About string
	// Weight is its share in a campaign that mixes all profiles, in proportion to the sum of all
	// weights; zero: not in the mix.
	Weight int
	// Protocol is the version that the servers speak, "4.2" or "8.0"; empty: a share of the seeds
	// speaks 4.2.
	Protocol string
	size     size
	// aim selects the kinds of faults; nil: all of them. With one, all faults of a run are of one
	// kind.
	aim func(kind string) bool
	one bool
	// balanced: all migrations are the balancer's.
	balanced bool
	// scripted: it consists of scripts of activities.
	scripted bool
}

func (p *Profile) kinds() []*faults.Kind {
	var kinds []*faults.Kind
	for _, k := range faults.All() {
		if p.aim == nil || p.aim(k.Name) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// deepKinds are the faults of control messages and of the commit window: what found the deepest
// bugs when it was measured.
var deepKinds = []string{
	"donor-failover", "recipient-crash", "config-failover", "stepdown", "power-loss", "crash-loop",
	"duplicate", "hold", "lost-request", "lost-reply", "lost-outcome", "stale-request", "stale-task",
	"slow-disk", "pause", "partial-partition", "isolated-primary", "superseded", "unreplicated",
	"halves", "slow-link",
}

func denseSize() size {
	z := standardSize
	z.moves, z.span = 12, 1200*time.Millisecond
	return z
}

func intenseSize() size {
	z := standardSize
	z.faults = 24
	return z
}

func withoutFaults(z size) size {
	z.faults = 0
	return z
}

// Profiles lists the ways to draw scenarios, the default soak first.
func Profiles() []Profile {
	return []Profile{
		{Name: "contended",
			About: "frequent migrations back and forth, faults aimed at control messages and " +
				"the commit window",
			Weight: 40,
			size:   denseSize(),
			aim:    func(kind string) bool { return slices.Contains(deepKinds, kind) }},
		{Name: "single-fault-kind",
			About:  "all faults of a run are of one kind, so that no kind masks another",
			Weight: 22,
			size:   standardSize,
			one:    true},
		{Name: "all-faults", About: "every kind of fault", Weight: 15, size: standardSize},
		{
			Name:   "intense",
			About:  "every kind of fault, three times as many",
			Weight: 12,
			size:   intenseSize(),
		},
		{Name: "balancer",
			About: "the balancer is the only source of migrations; operators drain shards, " +
				"change zones, windows and settings",
			Weight:   18,
			size:     balancedSize(),
			balanced: true},
		{
			Name:   "fault-free",
			About:  "no faults, only latency, migrations and clients",
			Weight: 3,
			size:   withoutFaults(standardSize),
		},
		{
			Name: "activities",
			About: "the scripts of up to four activities (shardproof list activities), started at " +
				"random times in one small cluster, with up to three faults at their failpoints, and " +
				"sometimes other clients and migrations beside them",
			Weight:   50,
			scripted: true,
		},
		{Name: "sweep", About: "two shards, one migration, one fault", size: sweepSize},
		{
			Name: "small",
			About: "two shards, four migrations, no faults: the base of strategies that add " +
				"their own",
			size: smallSize,
		},
	}
}

// FindProfile returns the profile of that name, or an error that names the nearest ones.
func FindProfile(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, suggest.Unknown("profile", name, names, "profiles")
}

// Mixed draws the seed's profile from the mix, then its scenario.
func Mixed(seed uint64) *scenario.Scenario { return MixedOf(seed, "") }

// MixedOf is Mixed with a protocol as in Profile.
func MixedOf(seed uint64, protocol string) *scenario.Scenario {
	p := mixedProfile(seed)
	p.Protocol = protocol
	return Draw(seed, p)
}

// MixedBrief is MixedOf with a third of the operations and of the time for them, and half of the
// migrations and faults: most of what goes wrong in a long scenario goes wrong in a short one as
// well, and costs half as much there. Scenarios of scripts are short as they are.
func MixedBrief(seed uint64, protocol string) *scenario.Scenario {
	p := mixedProfile(seed)
	p.Protocol = protocol
	p.size = p.size.brief(p.balanced)
	return Draw(seed, p)
}

func mixedProfile(seed uint64) Profile {
	weight := func(p Profile) (string, int) { return p.Name, p.Weight }
	return keyed.Choose(keyed.New(seed).IntN, "profile", Profiles(), weight)
}
