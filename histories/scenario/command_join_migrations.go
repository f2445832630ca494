package scenario

// JoinMigrations: every shard answers when it takes part in no migration of the namespace.
const JoinMigrations CommandKind = "join-migrations"

var _ = DeclareCommand(30, JoinMigrations, NamespaceOperand)
