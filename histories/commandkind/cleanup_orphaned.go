package commandkind

// CleanupOrphaned: every shard answers when its range deletions of the namespace are done.
const CleanupOrphaned Name = "cleanup-orphaned"

var _ = Declare(20, CleanupOrphaned, Namespace)
