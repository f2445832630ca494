package terms

import "testing"

// FuzzTerms enables whatever there is: it is accepted or refused, and what is accepted can be
// passed.
func FuzzTerms(f *testing.F) {
	f.Add(`30%2*return("crash")->pause`)
	f.Add(`1*return("crash"`)
	f.Add(`return("until=donor.register")`)
	f.Fuzz(func(t *testing.T, text string) {
		s := New(func(string, int) int { return 0 })
		if err := s.Enable(site, text); err != nil {
			if err.Error() == "" {
				t.Fatal("refused without a reason")
			}
			return
		}
		for passed := range s.chains {
			s.Eval(passed)
		}
	})
}
