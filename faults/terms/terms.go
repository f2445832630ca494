package terms

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	pingcap "github.com/pingcap/failpoint"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// million is the unit in which percentages are drawn, so that 0.5% needs no fraction.
const million = 1_000_000

// link is one term of a chain: its percentage, which we draw, and everything else, which the
// library evaluates.
type link struct {
	partsPerMillion int
	rest            pingcap.Failpoint
}

// parseChain reads terms such as `30%2*return("crash")->return("pause=50ms")`.
func parseChain(terms string) ([]*link, error) {
	if strings.TrimSpace(terms) == "" {
		return nil, errors.New(`no terms are given; write for example return("crash")`)
	}
	var chain []*link
	for _, term := range splitChain(terms) {
		l, err := parseTerm(term)
		if err != nil {
			return nil, fmt.Errorf("term %q: %w", term, err)
		}
		chain = append(chain, l)
	}
	return chain, nil
}

// splitChain cuts at every "->" outside quotes.
func splitChain(terms string) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(terms); i++ {
		switch {
		case terms[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(terms[i:], "->"):
			parts = append(parts, terms[start:i])
			start = i + 2
			i++
		}
	}
	return append(parts, terms[start:])
}

func parseTerm(term string) (*link, error) {
	parts, rest, err := cutPercent(term)
	if err != nil {
		return nil, err
	}
	action := strings.TrimLeft(rest, "0123456789*.%")
	if strings.Contains(rest[:len(rest)-len(action)], "%") {
		return nil, errors.New("the percentage comes first, as in 30%2*return(\"crash\")")
	}
	if err := checkAction(action); err != nil {
		return nil, err
	}
	l := &link{partsPerMillion: parts}
	if err := enable(&l.rest, rest); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "failpoint: "))
	}
	return l, nil
}

// enable has the library parse a term. It panics where a bracket or a quotation mark is missing.
func enable(f *pingcap.Failpoint, term string) (err error) {
	defer func() {
		//shardproof:allow recover no task runs here: a text is parsed
		if recover() != nil {
			err = fmt.Errorf("%q is not a term: a bracket or a quotation mark may be missing, as "+
				"in 1*return(\"crash\")", term)
		}
	}()
	return f.Enable(term)
}

// cutPercent takes a leading "30%" or "0.5%" off. The library would draw it from the process's
// global randomness, which no seed reaches.
func cutPercent(term string) (partsPerMillion int, rest string, err error) {
	number, rest, found := strings.Cut(term, "%")
	if !found || strings.TrimLeft(number, "0123456789.") != "" {
		return million, term, nil
	}
	whole, fraction, _ := strings.Cut(number, ".")
	if len(fraction) > 4 {
		return 0, "", fmt.Errorf("percentage %s%% is finer than a millionth", number)
	}
	n, err := strconv.Atoi(whole + (fraction + "0000")[:4])
	if err != nil || n > million {
		return 0, "", fmt.Errorf("percentage %s%% is not between 0 and 100", number)
	}
	return n, rest, nil
}

// refused says what to write instead of the actions that act on the real process or the real clock.
var refused = []struct{ action, instead string }{
	{"sleep", `return("pause=50ms"), which waits in virtual time`},
	{"pause", `return("until=<failpoint>"), which ends when that failpoint is passed`},
	{"break", "a replay with -trace"},
	{"print", "a replay with -trace"},
	{"panic", `return("crash")`},
}

func checkAction(action string) error {
	for _, r := range refused {
		if strings.HasPrefix(action, r.action) {
			return fmt.Errorf("%s would stop the real process, not the simulated one; use %s",
				r.action, r.instead)
		}
	}
	if action == "off" {
		return nil
	}
	value, isReturn := strings.CutPrefix(action, "return")
	if !isReturn {
		return fmt.Errorf("the action must be return(\"...\") or off, not %q", action)
	}
	text, err := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(value, "("), ")"))
	if err != nil {
		return errors.New(
			`return needs a text: return("crash"), "stepdown", "error=Code", "pause=50ms", ` +
				`"delay=50ms" or "until=<failpoint>"`,
		)
	}
	_, err = parseEffect(text)
	return err
}

func parseEffect(text string) (Effect, error) {
	word, value, hasValue := strings.Cut(text, "=")
	switch word {
	case "crash":
		return Effect{Do: Crash}, nil
	case "stepdown":
		return Effect{Do: StepDown}, nil
	case "error":
		code := errcode.FailPointEnabled
		if hasValue {
			code = errcode.Code(value)
		}
		return Effect{Do: Fail, Code: code}, nil
	case "pause", "delay":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return Effect{}, fmt.Errorf("%s needs a duration above zero such as %s=50ms, not %q",
				word, word, value)
		}
		if word == "delay" {
			return Effect{Do: Delay, For: d}, nil
		}
		return Effect{Do: Pause, For: d}, nil
	case "until":
		site, ok := failpoint.Parse(value)
		if !ok {
			return Effect{}, suggest.Unknown("failpoint", value, Names(), "failpoints")
		}
		return Effect{Do: Until, Site: site}, nil
	}
	return Effect{}, fmt.Errorf(
		"return(%q) is not supported; use crash, stepdown, error=Code, pause=50ms, delay=50ms or "+
			"until=<failpoint>", text,
	)
}
