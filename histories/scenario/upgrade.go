package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Upgrade rewrites the text of a scenario of schema 1 as this build reads it: names are those of
// today, a setting that was given twice stands once, with the value that counted, and settings that
// a preset holds are its line. Comments and the order of lines stay. A text of the present schema
// comes back as it is. name stands for the file in errors, which are of type *ParseError.
func Upgrade(name, text string) (string, error) {
	lines := strings.Split(text, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return !isBlank(l) })
	switch {
	case at < 0 || !strings.HasPrefix(strings.TrimSpace(lines[at]), header+" "):
		p := parser{file: name}
		return "", p.wrongHeader(at+1, "this is not a scenario")
	case strings.TrimSuffix(strings.TrimSpace(lines[at]), untilEnd) ==
		fmt.Sprintf("%s %d", header, Schema):
		return text, nil
	case strings.TrimSpace(lines[at]) != header+" 1":
		p := parser{file: name}
		return "", p.wrongHeader(at+1, "the scenario has a schema that this build does not know")
	}
	lines[at] = fmt.Sprintf("%s %d", header, Schema)
	for i := at + 1; i < len(lines); i++ {
		if !isBlank(lines[i]) {
			lines[i] = upgradeLine(lines[i])
		}
	}
	lines = withPreset(withoutRepeated(lines))
	text = strings.Join(lines, "\n")
	_, err := Parse(name, text)
	return text, err
}

// isBlank says whether a line has no fact: it is empty or a comment.
func isBlank(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

// names are the parts of a line that can be names: words, without what joins them in links and
// sites.
var nameParts = regexp.MustCompile(`[A-Za-z0-9_.*-]+`)

// upgradeLine renames what a line of schema 1 names.
func upgradeLine(line string) string {
	fact, comment := splitComment(line)
	words := strings.Fields(fact)
	kinds := renamedIn[words[0]]
	if words[0] == "at" && len(words) > 2 {
		kinds = renamedIn[words[2]]
		if words[2] == "moveprimary" {
			kinds = []string{"fact"}
		}
	}
	n := 0
	fact = nameParts.ReplaceAllStringFunc(fact, func(part string) string {
		n++
		for _, kind := range kinds {
			if kind == "fault" && (n < 5 || strings.Contains(part, ".")) {
				continue
			}
			if now, is := NowCalled(kind, part); is && (kind != "decision" || n == 2) {
				return now
			}
		}
		return upgradeNode(part)
	})
	return fact + comment
}

// renamedIn are the kinds of names that lines of a fact, or of a command, can hold.
var renamedIn = map[string][]string{
	"name":        {"profile", "strategy"},
	"set":         {"setting"},
	"moveprimary": {"fact"},
	"fault":       {"failpoint", "fault"},
	"decide":      {"decision", "failpoint"},
}

// upgradeNode renames the node of "watcher.0".
func upgradeNode(part string) string {
	if node, number, ok := strings.Cut(part, "."); ok {
		if now, is := NowCalled("node", node); is {
			return now + "." + number
		}
	}
	return part
}

// splitComment is a line without the comment at its end, and that.
func splitComment(line string) (fact, comment string) {
	if at := strings.Index(line, " # "); at >= 0 && strings.Count(line[:at], `"`)%2 == 0 {
		fact = strings.TrimRight(line[:at], " \t")
		return fact, line[len(fact):]
	}
	return line, ""
}

// settingOf is the setting of a line; false for a line of another fact.
func settingOf(text string) (Setting, bool) {
	l := &line{rest: text}
	if l.peek() != "set" {
		return Setting{}, false
	}
	l.keyword("set")
	return Setting{l.word("a setting"), l.word("its value")}, true
}

// withoutRepeated leaves out the lines of settings that a later line sets again.
func withoutRepeated(lines []string) []string {
	last := map[string]int{}
	for i, text := range lines {
		if v, is := settingOf(text); is {
			last[v.Name] = i
		}
	}
	var all []string
	for i, text := range lines {
		if v, is := settingOf(text); !is || last[v.Name] == i {
			all = append(all, text)
		}
	}
	return all
}

// withPreset replaces lines of settings by that of the preset which spares the most; what it holds
// otherwise is set by its own line behind it. The order of settings has no meaning.
func withPreset(lines []string) []string {
	var given []Setting
	for _, text := range lines {
		if v, is := settingOf(text); is {
			given = append(given, v)
		}
	}
	name := ""
	var held []Setting
	spared := 0
	for _, p := range presets {
		missing := slices.ContainsFunc(p.settings, func(v Setting) bool {
			return !slices.ContainsFunc(given, func(g Setting) bool { return g.Name == v.Name })
		})
		same := 0
		for _, v := range p.settings {
			if slices.Contains(given, v) {
				same++
			}
		}
		if !missing && same-1 > spared {
			name, held, spared = p.name, p.settings, same-1
		}
	}
	if name == "" {
		return lines
	}
	var all []string
	written := false
	for _, text := range lines {
		v, is := settingOf(text)
		if is && !written {
			all, written = append(all, "preset "+name), true
		}
		if !is || !slices.Contains(held, v) {
			all = append(all, text)
		}
	}
	return all
}
