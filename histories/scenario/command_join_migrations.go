package scenario

// JoinMigrations: every shard answers when it takes part in no migration of the namespace.
const JoinMigrations CommandKind = "join-migrations"

var _ = declareCommand(30, JoinMigrations, namespace)
