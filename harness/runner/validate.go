package runner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/faults/terms"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Parse reads a scenario that can be run on one of the targets; errors name the file and, where
// there is one, the line.
func Parse(targets target.Set, file, text string) (*scenario.Scenario, error) {
	s, err := scenario.Parse(file, text)
	if err != nil {
		return nil, err
	}
	t, err := targets.Find(s.Target)
	if err != nil {
		return nil, placed(&target.FactError{Fact: "target", Err: err}, file, text)
	}
	if s, err = scenario.ParseWith(file, text, names(t.Describe())); err != nil {
		return nil, err
	}
	if err := validate(t, s); err != nil {
		return nil, placed(err, file, text)
	}
	return s, nil
}

// placed is a flaw with its file and line.
func placed(err error, file, text string) error {
	return fmt.Errorf("%s: %w", placeOf(err, file, text), err)
}

// placeOf is the file and the line of a flaw.
func placeOf(err error, file, text string) string {
	f, ok := errors.AsType[*target.FactError](err)
	if !ok {
		return file
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.Join(strings.Fields(line), " "), f.Fact+" ") {
			return fmt.Sprintf("%s:%d", file, i+1)
		}
	}
	return file
}

// Validate says what keeps the scenario from being run on one of the targets.
func Validate(targets target.Set, s *scenario.Scenario) error {
	t, err := targets.Find(s.Target)
	if err != nil {
		return err
	}
	return validate(t, s)
}

func validate(t target.Target, s *scenario.Scenario) error {
	of := t.Describe()
	if err := s.Validate(names(of)); err != nil {
		return err
	}
	if err := checkOps(of, s); err != nil {
		return err
	}
	for _, f := range s.Faults {
		err := cmp.Or(checkKind(of, &f), faults.Check(f), checkMessages(of, &f),
			checkNodes(t.Nodes(s.Topology), s.Topology, &f))
		if err != nil {
			return &target.FactError{Fact: fmt.Sprintf("fault %d", f.ID), Err: err}
		}
	}
	if err := t.Check(s); err != nil {
		return err
	}
	return checkSettings(of, s.Settings)
}

// checkOps says which operation no client of the system carries out.
func checkOps(of *target.Description, s *scenario.Scenario) error {
	for i := range s.Ops {
		if op := &s.Ops[i]; !slices.Contains(of.Ops, op.Kind) {
			err := fmt.Errorf("clients of %s carry out no %s", of.Name, op.Kind)
			return &target.FactError{Fact: fmt.Sprintf("op %d", op.ID), Err: err}
		}
	}
	return nil
}

// checkKind says whether a fault makes sense for the system.
func checkKind(of *target.Description, f *scenario.Fault) error {
	if slices.Contains(of.Faults, f.Kind) {
		return nil
	}
	if _, err := faults.Find(f.Kind); err != nil {
		return err
	}
	return fmt.Errorf("the fault %s makes no sense for %s; these do: %s",
		f.Kind, of.Name, strings.Join(of.Faults, ", "))
}

// checkMessages says whether the system has messages as the fault disturbs: one that matches none
// would pass as if it had done something.
func checkMessages(of *target.Description, f *scenario.Fault) error {
	for _, arg := range f.Args {
		groups := []string{"all", "control", "commit", "administration"}
		if arg.Name != "messages" || of.Messages.Names == nil ||
			slices.Contains(groups, arg.Value) {
			continue
		}
		known := of.Messages.Names()
		if slices.Contains(known, arg.Value) {
			continue
		}
		near := suggest.Nearest(arg.Value, append(groups, known...))
		if len(near) == 0 {
			near = append(groups, "the name of a command such as RecvChunkCommit")
		}
		return fmt.Errorf("fault %s: argument messages: no node of %s sends %q; use %s",
			f.Kind, of.Name, arg.Value, strings.Join(near, " or "))
	}
	return nil
}

// CheckSettings says whether every setting exists and takes its value.
func CheckSettings(t target.Target, all []scenario.Setting) error {
	return checkSettings(t.Describe(), all)
}

func checkSettings(of *target.Description, all []scenario.Setting) error {
	world, set := calm(), terms.New(nil)
	for _, v := range all {
		if _, err := apply(v, of, &world, set); err != nil {
			return &target.FactError{Fact: "set " + v.Name, Err: err}
		}
	}
	return nil
}

// names are the catalogs that scenario texts are checked against while they are parsed.
func names(of *target.Description) scenario.Names {
	return scenario.Names{
		Site: func(name string) error { return checkSite(of, name) },
		Fault: func(name string) error {
			_, err := faults.Find(name)
			return err
		},
		Setting: func(name string) error {
			if site, ok := strings.CutPrefix(name, failpointPrefix); ok {
				return checkSite(of, site)
			}
			isWorlds := slices.ContainsFunc(worldSettings, func(c condition) bool {
				return c.name == name
			})
			if isWorlds || of.Setting(name) != nil {
				return nil
			}
			return unknownSetting(of, name)
		},
	}
}

// checkSite says whether nodes of the system announce a failpoint.
func checkSite(of *target.Description, name string) error {
	if slices.ContainsFunc(of.Sites, func(in failpoint.Info) bool { return in.Name == name }) {
		return nil
	}
	var names []string
	for _, in := range of.Sites {
		names = append(names, in.Name)
	}
	return suggest.Unknown("failpoint", name, names, "failpoints")
}
