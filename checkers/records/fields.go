package records

// field is one that is judged: what it promises, and which changes that allows.
type field struct {
	name, promise string
	may           func(was, is Value, renames bool) bool
}

// stays are fields that may be set and stay as they are then.
func stays(names ...string) (all []field) {
	for _, n := range names {
		all = append(all, field{name: n, promise: "what this field says stays",
			may: func(was, _ Value, _ bool) bool { return was == Value{} }})
	}
	return all
}

// rises are numbers that do not fall, and flags that are not taken back.
func rises(names ...string) (all []field) {
	for _, n := range names {
		all = append(all, field{name: n, promise: "this field does not fall",
			may: func(was, is Value, _ bool) bool { return is.Number > was.Number }})
	}
	return all
}

// falls are flags that are taken back once.
func falls(names ...string) (all []field) {
	for _, n := range names {
		all = append(all, field{name: n, promise: "this field is not set again",
			may: func(was, is Value, _ bool) bool { return is.Number < was.Number }})
	}
	return all
}

// follows are names of collections, which change with the collection.
func follows(names ...string) (all []field) {
	for _, n := range names {
		all = append(all, field{name: n, promise: "only a rename changes this field",
			may: func(_, _ Value, renames bool) bool { return renames }})
	}
	return all
}

func fields(groups ...[]field) (all []field) {
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

// kept are the records that are judged, by namespace, and of each the fields. What is not here may
// change as it likes: counts of orphans, copies of routing tables, and what is the catalog's.
var kept = map[string][]field{
	"config.rangeDeletions": fields(
		stays("collectionUuid", "donorShardId", "min", "max", "whenToClean", "timestamp"),
		falls("pending"), rises("processing"), follows("nss")),
	"config.migrationCoordinators": stays("migrationSessionId", "lsid", "txnNumber", "nss",
		"collectionUuid", "donorShardId", "recipientShardId", "min", "max", "chunkMin", "chunkMax",
		"preMigrationChunkVersion", "decision"),
	"config.migrationRecipients": stays("migrationSessionId", "nss", "collectionUuid", "min", "max",
		"donorShardId", "lsid", "txnNumber"),
	"config.movePrimaryCoordinators": stays("db", "fromShard", "toShard", "lsid", "uuid", "timestamp",
		"lastMod"),
	"config.collection_critical_sections": fields(
		stays("reason", "actor"), rises("blockReads", "creates")),
	"config.ddlParticipations": rises("released"),
	"config.cache.collections": rises("enterCriticalSectionCounter"),
	"config.cache.databases":   rises("enterCriticalSectionCounter"),
	"config.vectorClock":       rises("configTime"),
	"config.transactions":      rises("txn"),
	"admin.system.version":     fields(stays("shardName"), rises("minOpTime", "at")),
	"config.ddlRequests":       rises("txn"),
	operations: stays("kind", "mustExist", "number", "session",
		"txn", "to", "dropTarget", "home", "alone", "founded", "numInitialChunks", "field", "index",
		"spec"),
	"config.migrations": stays("ns", "min", "max", "fromShard", "toShard", "chunkVersion",
		"waitForDelete", "forceJumbo", "name", "balancer", "maxChunkSizeBytes"),
}

// operations are the config server's records of operations on whole collections.
const operations = "config.system.sharding_ddl_coordinators"

// Fields are those that are judged of the records in a namespace; none where nothing is.
func Fields(ns string) []string { return fieldNames[ns] }

var fieldNames = func() map[string][]string {
	all := map[string][]string{}
	//shardproof:allow map each goes to its own place
	for ns, fs := range kept {
		for _, f := range fs {
			all[ns] = append(all[ns], f.name)
		}
	}
	return all
}()
