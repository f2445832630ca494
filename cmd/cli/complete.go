package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shardproof/shardproof/cmd/cli/lists"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// completion says what a shell offers for a value.
type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// Flags whose values are files, and those whose values are folders, of whichever command.
var (
	fileFlags = []string{"junit", "trace", "write-scenario", "curve", "page", "matrix", "index",
		"cpuprofile", "memprofile"}
	folderFlags = []string{"out", "memory"}
)

// completeValues gives every flag of the commands below c a completion of its values, and commands
// that take a folder or the name of a sweep one of their arguments.
func completeValues(c *cobra.Command, targets target.Set) {
	values := flagValues(targets)
	for _, sub := range c.Commands() {
		completeValues(sub, targets)
		sub.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return // it takes none
			}
			complete := values[f.Name]
			if complete == nil {
				complete = offer(f.Usage)
			}
			_ = sub.RegisterFlagCompletionFunc(f.Name, complete) // fails if the command has its own
		})
		switch sub.Name() {
		case "memory", "merge", "serve":
			sub.ValidArgsFunction = folders
		case "sweep":
			sub.ValidArgsFunction = fromList(targets, "sweeps", cobra.ShellCompDirectiveDefault)
		}
	}
}

func flagValues(targets target.Set) map[string]completion {
	values := map[string]completion{
		"profile":    fromList(targets, "profiles", cobra.ShellCompDirectiveNoFileComp),
		"strategy":   fromList(targets, "strategies", cobra.ShellCompDirectiveNoFileComp),
		"activities": fromList(targets, "activities", cobra.ShellCompDirectiveNoFileComp),
		"held":       fromList(targets, "activities", cobra.ShellCompDirectiveNoFileComp),
		"set":        fromList(targets, "settings", cobra.ShellCompDirectiveNoSpace),
		"failpoint":  fromList(targets, "failpoints", cobra.ShellCompDirectiveNoSpace),
		"protocol":   offer(append(append([]string{}, scenario.Protocols...), "both")...),
		"target":     targetNames(targets),
		"for":        offer("10m", "1h", "8h"),
		"show":       offer("all"),
		"at":         offer("here"),
	}
	for _, name := range fileFlags {
		values[name] = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	for _, name := range folderFlags {
		values[name] = folders
	}
	return values
}

// offer offers words, and no files. One that is a sentence is help, not a value.
func offer(words ...string) completion {
	var all []string
	for _, w := range words {
		if strings.Contains(w, " ") {
			all = cobra.AppendActiveHelp(all, w)
		} else {
			all = append(all, w)
		}
	}
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// fromList offers the names of a list, with what `list` says about them. What is completed without
// a space behind it goes on with an equals sign.
func fromList(targets target.Set, name string, how cobra.ShellCompDirective) completion {
	sign := ""
	if how == cobra.ShellCompDirectiveNoSpace {
		sign, how = "=", how|cobra.ShellCompDirectiveNoFileComp
	}
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var all []string
		for _, row := range lists.Rows(targets[0], name) {
			all = append(all, row[0]+sign+"\t"+strings.Join(row[1:], " "))
		}
		return all, how
	}
}

func targetNames(targets target.Set) completion {
	var names []string
	for _, t := range targets {
		names = append(names, t.Describe().Name)
	}
	return offer(names...)
}
