package timeline_test

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories/timeline"
)

// FuzzRead reads whatever there is as a timeline: it is one, or the refusal names the file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schema":"shardproof.timeline/1"}` + "\n"))
	f.Add([]byte(`{"schema":"shardproof.timeline/1"}` + "\n" + `{"at":1,"ops":{"read":5}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := timeline.Read("f", text)
		if err != nil && !strings.HasPrefix(err.Error(), "f") {
			t.Fatalf("refused without a place: %v", err)
		}
		if err == nil && read == nil {
			t.Fatal("neither a timeline nor a refusal")
		}
	})
}
