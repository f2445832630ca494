package harness

import (
	"fmt"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/faults/failpoints"
	"github.com/shardproof/shardproof/faults/spelling"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/settings"
)

// Names are the catalogues that scenario texts are checked against while they are parsed.
func Names() scenario.Names {
	return scenario.Names{
		Site: func(name string) error {
			if _, ok := point.Parse(name); !ok {
				return spelling.Unknown("failpoint", name, faults.SiteNames(), "failpoints")
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
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Validate says what keeps the scenario from being run.
func Validate(s *scenario.Scenario) error {
	if err := s.Validate(Names()); err != nil {
		return err
	}
	for _, f := range s.Faults {
		if err := faults.Check(f); err != nil {
			return fmt.Errorf("fault %d: %w", f.ID, err)
		}
	}
	return CheckSettings(s.Settings)
}

// CheckSettings says whether every setting exists and takes its value.
func CheckSettings(all []scenario.Setting) error {
	cluster, world := settings.Default80(), calm()
	return configure(&scenario.Scenario{Settings: all}, &cluster, &world, failpoints.New(nil))
}

// FailpointSetting is the setting that switches a failpoint on.
func FailpointSetting(failpoint string) string { return failpointPrefix + failpoint }
