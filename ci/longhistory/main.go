package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/shardproof/shardproof/histories"
)

func main() {
	make := flag.Int("make", 0, "")
	timed := flag.Bool("timed", false, "")
	keys := flag.Int("keys", 1000, "")
	flag.Parse()
	f, _ := os.Create(flag.Arg(0))
	w, err := histories.NewWriter[histories.Op](f, histories.Header{Scenario: "long"})
	if err == nil {
		err = newStore(*keys, *timed).play(*make, w.Write)
	}
	if err == nil {
		err = w.Close()
	}
	fmt.Println(err)
}
