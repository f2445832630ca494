package commandkind

// CollectionStatus: an operator asks whether a collection is as the balancer would have it.
const CollectionStatus Name = "collection-status"

var _ = Declare(210, CollectionStatus, Namespace)
