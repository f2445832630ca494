package commandkind

// CollectionStats: an operator asks a router how a collection lies on the shards.
const CollectionStats Name = "collection-stats"

var _ = Declare(240, CollectionStats, Namespace)
