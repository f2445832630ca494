package commandkind

// ListChunks: an operator reads what config.chunks has of a collection through a router.
const ListChunks Name = "list-chunks"

var _ = Declare(230, ListChunks, Namespace)
