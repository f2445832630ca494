package commandkind

// JoinMigrations: every shard answers when it takes part in no migration of the namespace.
const JoinMigrations Name = "join-migrations"

var _ = Declare(30, JoinMigrations, Namespace)
