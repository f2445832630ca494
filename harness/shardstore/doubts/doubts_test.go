package doubts

import (
	"testing"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// failed is no error for "".
func failed(code errcode.Code) error {
	if code == "" {
		return nil
	}
	return errcode.New(code, "it failed")
}

// An answer is wrong if it says that a write was not executed, and an earlier attempt of the same
// request ended with an error that does not say so.
func TestDoubts(t *testing.T) {
	for name, c := range map[string]struct {
		attempts []errcode.Code
		asked    env.Message
		answer   error
		wrong    bool
	}{
		"none":          {nil, &command.Insert{}, failed(errcode.NotWritablePrimary), false},
		"certain":       {[]errcode.Code{errcode.StaleConfig}, &command.Insert{}, failed(errcode.DuplicateKey), false},
		"stepped down":  {[]errcode.Code{errcode.PrimarySteppedDown}, &command.Insert{}, failed(errcode.NotWritablePrimary), true},
		"then refused":  {[]errcode.Code{errcode.Interrupted, errcode.StaleConfig}, &command.RenameUnsharded{}, failed(errcode.StaleConfig), true},
		"then executed": {[]errcode.Code{errcode.PrimarySteppedDown}, &command.Update{}, nil, false},
		"the next one":  {[]errcode.Code{errcode.PrimarySteppedDown, ""}, &command.Insert{}, failed(errcode.StaleConfig), false},
		"told":          {[]errcode.Code{errcode.PrimarySteppedDown}, &command.Update{}, failed(errcode.PrimarySteppedDown), false},
		"a query":       {[]errcode.Code{errcode.PrimarySteppedDown}, &command.Find{}, failed(errcode.NotWritablePrimary), false},
	} {
		t.Run(name, func(t *testing.T) {
			var r Routers
			for _, code := range c.attempts {
				r.Ended(&env.Exchange{From: "router.0", To: "a.0", Task: 7}, c.asked, failed(code))
			}
			if _, wrong := r.Answered(&env.Exchange{To: "router.0", Task: 8}, c.answer); wrong {
				t.Error("another request's answer is wrong")
			}
			answer := &env.Exchange{To: "router.0", Task: 7}
			if a, wrong := r.Answered(answer, c.answer); wrong != c.wrong {
				t.Errorf("wrong: %t, of attempt %v", wrong, a)
			}
			if _, wrong := r.Answered(answer, c.answer); wrong {
				t.Error("an answered request is remembered")
			}
		})
	}
}
