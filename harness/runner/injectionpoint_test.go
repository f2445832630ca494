package runner

import "testing"

// TestActors knows whose part a node has.
func TestActors(t *testing.T) {
	for node, want := range map[string]string{
		"shard-b.1":  "donor",
		"shard-a.0":  "recipient",
		"config.2":   "config",
		"router.0":   "router",
		"client.7":   "client",
		"operator.0": "other",
	} {
		if got := actorOf(node, "shard-b", "shard-a"); got != want {
			t.Errorf("%s is %s, want %s", node, got, want)
		}
	}
}
