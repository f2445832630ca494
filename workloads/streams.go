package workloads

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// StreamParams say how many readers of a collection's changes to draw.
type StreamParams struct {
	NS    string
	Count int
	// Streams start within Span; one that starts late meets migrations that are in progress.
	Span time.Duration
}

// StreamsName and StreamsAbout describe the workload of DrawStreams in lists.
const (
	StreamsName  = "streams"
	StreamsAbout = "change stream readers that resume at old and new tokens while ranges move"
)

// DrawStreams plans readers: some ask often and for little, some go back behind what they have been
// delivered, and some look but seldom, and go on or resume where they were: much may have
// become of their collection meanwhile.
func DrawStreams(source Source, p StreamParams) []scenario.Stream {
	streams := make([]scenario.Stream, p.Count)
	for i := range streams {
		pick := func(what string, n int) int {
			return source(fmt.Sprintf("stream/%d/%s", i+1, what), n)
		}
		streams[i] = scenario.Stream{
			ID: i + 1, At: p.Span / 1000 * time.Duration(pick("at", 1000)), NS: p.NS,
			Poll:   []time.Duration{15, 30, 60, 120}[pick("poll", 4)] * time.Millisecond,
			Batch:  []int{0, 0, 20, 5}[pick("batch", 4)],
			Resume: []int{0, 2, 4, 8}[pick("resume", 4)],
			Back:   []int{0, 1, 5, 30}[pick("back", 4)],
		}
		if pick("seldom", 6) == 0 {
			streams[i].Poll, streams[i].Resume = 400*time.Millisecond, 1
		}
		if pick("slow", 6) == 0 { // much may happen, and be undone, between two answers
			streams[i].Poll = []time.Duration{700, 1500}[pick("how slow", 2)] * time.Millisecond
			streams[i].Resume, streams[i].Batch = 0, 0 // or it would never be done
		}
	}
	return streams
}
