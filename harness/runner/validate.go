package runner

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/faults/terms"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/settings"
)

// Names are the catalogues that scenario texts are checked against while they are parsed.
func Names() scenario.Names {
	return scenario.Names{
		Site: func(name string) error {
			if _, ok := failpoint.Parse(name); !ok {
				return suggest.Unknown("failpoint", name, faults.SiteNames(), "failpoints")
			}
			return nil
		},
		Fault: func(name string) error {
			_, err := faults.Find(name)
			return err
		},
		Setting: func(name string) error {
			return checkName(name)
		},
	}
}

// Parse reads a scenario that this build can run; errors name the file and, where there is one, the line.
func Parse(file, text string) (*scenario.Scenario, error) {
	s, err := scenario.ParseWith(file, text, Names())
	if err != nil {
		return nil, err
	}
	if err := Validate(s); err != nil {
		return nil, fmt.Errorf("%s: %w", placeOf(err, file, text), err)
	}
	return s, nil
}

// flaw is what is wrong with a fact of a scenario; its line starts with fact.
type flaw struct {
	fact string
	err  error
}

func (f *flaw) Error() string { return f.fact + ": " + f.err.Error() }

func (f *flaw) Unwrap() error { return f.err }

// placeOf is the file and the line of a flaw.
func placeOf(err error, file, text string) string {
	f, ok := errors.AsType[*flaw](err)
	if !ok {
		return file
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.Join(strings.Fields(line), " "), f.fact+" ") {
			return fmt.Sprintf("%s:%d", file, i+1)
		}
	}
	return file
}

// Validate says what keeps the scenario from being run.
func Validate(s *scenario.Scenario) error {
	if err := s.Validate(Names()); err != nil {
		return err
	}
	for _, f := range s.Faults {
		if err := cmp.Or(faults.Check(f), checkNodes(s.Topology, &f)); err != nil {
			return &flaw{fmt.Sprintf("fault %d", f.ID), err}
		}
	}
	for _, c := range s.Commands {
		if err := checkCommand(c); err != nil {
			return &flaw{fmt.Sprintf("at %s %s %s", c.At, c.Do, c.Name), err}
		}
	}
	return CheckSettings(s.Settings)
}

// CheckSettings says whether every setting exists and takes its value.
func CheckSettings(all []scenario.Setting) error {
	cluster, world := settings.Default80(), calm()
	terms := terms.New(nil)
	for _, v := range all {
		if err := apply(v, &cluster, &world, terms); err != nil {
			return &flaw{"set " + v.Name, err}
		}
	}
	return nil
}

// FailpointSetting is the setting that switches a failpoint on.
func FailpointSetting(failpoint string) string { return failpointPrefix + failpoint }
