package scenario

// CleanupOrphaned: every shard answers when its range deletions of the namespace are done.
const CleanupOrphaned CommandKind = "cleanup-orphaned"

var _ = DeclareCommand(20, CleanupOrphaned, NamespaceOperand)
