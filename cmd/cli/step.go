package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness/debugger"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/target"
)

// stepFlags are the flags of `step`.
type stepFlags struct {
	replayFlags
	at   string
	show []string
}

func newStep(targets target.Set) *cobra.Command {
	f := &stepFlags{}
	f.targets = targets
	c := &cobra.Command{
		Use:   "step SEED | SCENARIO-FILE | FOLDER",
		Short: "step through a run, forward and back, and inspect the cluster at every step",
		Long: `Step replays a run and stops where you want: at the next event, at the next
one about a key, a migration or a node, at a step or a time, forward or back. There it shows the
catalog, the metadata and the data of every server, and the migrations and faults in progress.
Commands are read line by line; "help" lists them. With --at or --show it prints what they ask for
and exits.`,
		Example: "  shardproof step out/lost-write-4711\n  shardproof step out/lost-write-4711 " +
			"--at here --show 'key 17' --show migrations",
		Args: exactlyOne("a seed, a scenario file or the folder of a saved run"),
		RunE: func(c *cobra.Command, args []string) error { return f.step(c, args[0]) },
	}
	f.seedFlags(c)
	c.Flags().StringVar(&f.at, "at", "",
		"where to go first: a step, a time such as 1.5s, or here, where the failure arose")
	c.Flags().StringArrayVar(&f.show, "show", nil,
		"what to show there: all, catalog, nodes, node N, key K, migrations, migration ID, "+
			"faults, events")
	f.seeds, f.parallel, f.again = 1, 1, 0
	return c
}

func (f *stepFlags) step(c *cobra.Command, what string) error {
	s, saved, err := f.load(what)
	if err != nil {
		return usageError(err)
	}
	film, err := debugger.NewFilm(f.targets, s)
	if err != nil {
		return usageError(err)
	}
	defer film.Close()
	if saved != "" {
		if d, err := explain.Compare(saved, film.Result); err != nil {
			return usageError(err)
		} else if d != nil {
			if err := tellDivergence(c, d); err != nil {
				return err
			}
		}
	}
	st := debugger.New(film)
	if f.at == "" && len(f.show) == 0 {
		return f.walk(c, st, film)
	}
	return f.answer(c.OutOrStdout(), st)
}

// answer goes where --at says and shows what --show says.
func (f *stepFlags) answer(out io.Writer, st *debugger.Stepper) error {
	var lines []string
	switch f.at {
	case "":
	case "here":
		lines = append(lines, "here")
	default:
		lines = append(lines, "goto "+f.at)
	}
	for _, what := range f.show {
		lines = append(lines, "show "+what)
	}
	for _, line := range lines {
		text, err := st.Do(line)
		if err != nil {
			return usageError(err)
		}
		fmt.Fprint(out, text)
	}
	return nil
}

// walk carries out the lines of the input until it ends or says so.
func (f *stepFlags) walk(c *cobra.Command, st *debugger.Stepper, film *debugger.Film) error {
	out := c.OutOrStdout()
	prompt, mistakes := "", 0
	if file, ok := c.InOrStdin().(*os.File); ok && isatty.IsTerminal(file.Fd()) {
		prompt = "> "
	}
	fmt.Fprint(out, stepGreeting(film), st.Where(), prompt)
	lines := bufio.NewScanner(c.InOrStdin())
	for lines.Scan() {
		text, err := st.Do(strings.TrimSpace(lines.Text()))
		if errors.Is(err, debugger.ErrQuit) {
			return nil
		}
		if err != nil {
			text, mistakes = err.Error()+"\n", mistakes+1
		}
		fmt.Fprint(out, text, prompt)
	}
	if err := lines.Err(); err != nil || mistakes == 0 || prompt != "" {
		return err
	}
	return usageError(fmt.Errorf("%s could not be carried out",
		counted(mistakes, "line of the input", "lines of the input")))
}

// stepGreeting says what is walked through.
func stepGreeting(film *debugger.Film) string {
	r := film.Result
	outcome := "it passes"
	if !r.Passed() {
		outcome = "it fails with " + r.Signature() +
			"; `here` goes to where that arose, `story` explains it"
	}
	return fmt.Sprintf("seed %d, %d events in %s steps: %s; `help` lists the commands\n",
		r.Scenario.Seed, len(r.Events), withCommas(r.Steps), outcome)
}
