package replies

// Judge is who judges a field.
type Judge struct {
	// By is the name of the checker, as `shardproof list checkers` has it; empty: nobody.
	By string
	// Why says what it judges the field by or, without it, why there is no judge.
	Why string
}

// Fields are the judges of the fields of all answers to clients and operators, by type and field.
var Fields = map[string]Judge{
	"client.Answer.Certainty": {"unique-writes",
		"what failed is never seen, and what was acknowledged is"},
	"client.Answer.Written": {"replies", "field by field"},
	"client.Answer.Docs":    {"replies", "at most one document of the key that was asked for"},
	"client.Answer.Err":     {"cause", "whatever is refused has a cause"},
	"client.Answer.After":   {"", "what the client knew before it asked is no reply"},
	"client.Answer.Time": {"replies",
		"never zero; that of a write is after what the client knew before, and that of a " +
			"snapshot read is the one that it asked for"},
	"client.Answer.Since": {"read-times",
		"nothing that was read is older; of a snapshot read it is the operation time: replies"},
	"client.Answer.Retries": {"", "the client counts them itself"},

	"command.Written.N":        {"replies", "by kind; see outcomes"},
	"command.Written.Modified": {"replies", "by kind; see outcomes"},
	"command.Written.Upserted": {"replies", "by kind; see outcomes"},
	"command.Written.Image":    {"replies", "by kind, and as every document"},
	"command.Written.Retried": {"probes",
		"an acknowledged statement that is sent again was executed before"},
	"command.Written.ConcernError": {"unique-writes",
		"without it the write stays; with it on every write no key can be written: convergence; a " +
			"router has it if a shard has: replies"},
	"command.Written.Time": {"replies",
		"as client.Answer.Time; that of a router is the latest that shards have answered it"},

	"command.Written.Refused": {"unique-writes",
		"what it refuses is never seen, and what was inserted before it is"},
	"command.Written.Why": {"", "a sentence for people"},

	"command.Batch.Cursor": {"unique-writes",
		"a scan that ends too early lacks documents; one without end is refused: convergence"},
	"command.Batch.Docs": {"replies",
		"no more than the batch may have, in the order of the shard key"},
	"command.Batch.Time":  {"replies", "as client.Answer.Time"},
	"command.Batch.Since": {"read-times", "as client.Answer.Since"},

	"command.ChangeBatch.Stream": {"", "it is any text: a client that goes on with another is " +
		"refused, and opens the stream again behind the newest token"},
	"command.ChangeBatch.Changes": {"change-streams", "each write once, in order"},
	"command.ChangeBatch.Upto":    {"change-streams", "nothing before it comes later"},
	"command.Change.Token":        {"change-streams", "tokens ascend"},
	"command.Change.Kind":         {"change-streams", "it is what the write did"},
	"command.Change.Key":          {"change-streams", "some write of the key explains the change"},
	"command.Change.Doc":          {"replies", "as every document; its value: change-streams"},
	"command.Change.Shard":        {"replies", "none is told: it is for routers"},
	"command.Change.To":           {"replies", "a name that an operation gives the collection"},
	"command.Token.TS":            {"change-streams", "tokens ascend, and agree with the writes'"},
	"command.Token.Shard":         {"change-streams", "all readers get the same tokens"},
	"command.Token.N":             {"change-streams", "all readers get the same tokens"},

	"command.BalancerStatusReply.Mode":    {"operator-answers", "that of the catalog meanwhile"},
	"command.BalancerStatusReply.InRound": {"", "a primary alone knows it: no document has it"},
	"command.BalancerStatusReply.Rounds":  {"", "as InRound, and each term counts from 0"},
	"command.BalancerCollectionStatusReply.Compliant": {"operator-answers",
		"it agrees with FirstViolation"},
	"command.BalancerCollectionStatusReply.FirstViolation": {"operator-answers",
		"by the policy"},
	"command.CollStatsReply.Sharded": {"operator-answers", "as the catalog has it"},
	"command.CollStatsReply.Shards":  {"operator-answers", "those that own chunks"},
	"command.ShardExtent.Shard":      {"operator-answers", "by the routing table"},
	"command.ShardExtent.Chunks":     {"operator-answers", "by the routing table"},
	"command.ShardExtent.Documents":  {"operator-answers", "by the disk"},
	"command.ShardExtent.Bytes":      {"operator-answers", "by the disk"},
	"command.CleanedUp.StoppedAt": {"range-deletion",
		"at its end no deletion is left that was there before"},
	"command.ShardingStatisticsReply.Values": {"statistics", "by the events of the process"},
	"command.Statistic.Name":                 {"statistics", "by the events of the process"},
	"command.Statistic.Count":                {"statistics", "by the events of the process"},

	"command.RemoveShardReply.State": {"acknowledged", "a shard that was removed is none"},
	"command.RemoveShardReply.Chunks": {"liveness",
		"marks are cleared where it is Jumbo: else the removal does not end"},
	"command.RemoveShardReply.Jumbo": {"liveness",
		"marks of so many are cleared: else the removal does not end"},
	"command.RemoveShardReply.Databases": {"liveness",
		"these are moved away: else the removal does not end"},
	"command.RemoveShardReply.Unfinished": {"", "a text for people; what is behind it keeps the " +
		"removal from ending, which liveness judges"},

	"command.SplitPolicy.ChunkBytes": {"split-points",
		"a shard that is told another size cuts its chunks elsewhere"},
	"command.SplitPolicy.AutoSplit": {"split-points",
		"where operators have switched it off nothing is split; else, a shard looks: probes"},
	"command.SplitPolicy.Balancing": {"", "a hint for shards: the balancer decides for itself"},
}

// Between are the replies that neither clients nor operators get, and who asks.
var Between = map[string]string{
	"command.AuditReply":             "the audit, which judges the cluster by it: convergence",
	"command.CollectionOptionsReply": "a recipient asks the donor",
	"command.CommitReply":            "a donor asks the config server",
	"command.DatabaseReply":          "servers ask the config server",
	"command.HelloReply":             "servers and clients look for a primary with it",
	"command.RangeTaskReply":         "a donor asks the recipient",
	"command.SplitVectorReply":       "the config server asks a shard: split-points",
}
