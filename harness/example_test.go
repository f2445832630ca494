package harness_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness"
)

// A seed is a whole cluster under faults, in virtual time.
func ExampleRun() {
	r, err := harness.Run(harness.Draw(7), harness.Options{})
	if err != nil {
		log.Fatal(err)
	}
	again, err := harness.Run(harness.Draw(7), harness.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("passed:", r.Passed())
	fmt.Println("the same run again:", again.HashText() == r.HashText())
	// Output:
	// passed: true
	// the same run again: true
}

// A campaign runs seeds on all cores and collects those that fail.
func ExampleCampaign() {
	s := harness.Campaign(context.Background(), harness.CampaignOptions{First: 1, Seeds: 10})
	fmt.Println("runs:", s.Runs)
	fmt.Println("failures:", len(s.Failures))
	// Output:
	// runs: 10
	// failures: 0
}

// hasty is a scenario that gives a cluster no time to finish what it has begun.
const hasty = `shardproof scenario 1
seed 7
topology shards=2 members=3 config=3 routers=1 clients=1
faults-end 10s
limit 100ms
collection test.docs ranged keys=4 preload=4 bounds=2
op 1 at 10ms client 0 read test.docs k=1
fault 1 at 9990ms crash shard-a.primary
fault 2 at 100ms crash config.1 for 200ms
`

// A run that fails is explained from what was recorded of it.
func ExampleExplain() {
	s, err := harness.Parse("hasty.txt", hasty)
	if err != nil {
		log.Fatal(err)
	}
	r, err := harness.Run(s, harness.Options{Events: true})
	if err != nil {
		log.Fatal(err)
	}
	block := harness.Explain(r)
	fmt.Println("passed:", r.Passed())
	fmt.Println("the block names the signature:", strings.Contains(block, r.Signature()))
	// Output:
	// passed: false
	// the block names the signature: true
}

// A failing scenario is made smaller as long as it fails in the same way.
func ExampleShrink() {
	s, err := harness.Parse("hasty.txt", hasty)
	if err != nil {
		log.Fatal(err)
	}
	begun := time.Now()
	found, err := harness.Shrink(s, harness.ShrinkOptions{Runs: 500, Stop: func() bool {
		return time.Since(begun) > time.Minute
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same failure:", found.To.Signature() == found.From.Signature())
	fmt.Println("faults left:", len(found.Scenario.Faults))
	// Output:
	// the same failure: true
	// faults left: 1
}
