package activity

// frame is what all scripts share: a cluster of three shards and one collection with a chunk on
// each. What waits for an answer waits for less than a second.
const frame = `shardproof scenario 2
seed 1
planned
topology shards=3 members=3 config=3 routers=2 clients=6
faults-end 3s
limit 90s
collection test.docs ranged keys=12 preload=9 bounds=4,8
preset short
set defaultConfigCommandTimeoutMS 400ms
set shardRequestTimeoutMillis 400ms
set drainOverlappingRangeDeletionsOnStartTimeoutMS 400ms
set criticalSectionWaitMillis 500ms
set writeConcernTimeoutMillis 500ms
set socketTimeoutMS 800ms
set timeoutMS 900ms
set cursorTimeoutMillis 900ms
set moveRangeMaxWaitMillis 5s
set receiveChunkWaitForRangeDeleterTimeoutMS 400ms
set moveChunkCatchUpMaxWaitMillis 800ms
set rangeDeleterBatchSize 1
set balancerRoundIntervalMillis 30ms
set balancerShortIntervalMillis 5ms
`

// The collection of the move of a primary.
const (
	unsharded = "test.plain"
	withPlain = `
collection ` + unsharded + ` unsharded keys=4 preload=3
`
)

// Clients is how many clients a script may have, from client 0 on.
const Clients = 3
