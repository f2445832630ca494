package commandkind

// Mistake: an operator asks for something that can never be granted; the value is its name.
const Mistake Name = "mistake"

var _ = Declare(250, Mistake, Namespace, SettingValue)

// Mistakes are the names of those mistakes in drawn scenarios that are refused whatever else
// happens. LastingMistakes would be granted if the collection were no longer sharded.
var (
	Mistakes = []string{
		"add-below-zero", "add-config", "add-nobody", "autosplit-maybe", "balance-nothing",
		"bounds-backwards", "chunks-below-zero", "chunks-of-no-hash", "chunks-too-many",
		"chunks-twice", "chunksize-zero", "database-of-servers", "database-with-dot",
		"database-without-name", "defragment-sessions", "drop-of-nothing", "index-of-nothing",
		"jumbo-of-nothing", "limit-below-zero", "limit-nobody", "merge-of-no-key",
		"merge-of-nothing", "mode-unknown", "move-backwards", "move-of-no-key", "move-of-no-range",
		"move-of-nothing", "move-to-nobody", "primary-of-nothing", "primary-to-nobody",
		"range-of-no-zone", "remove-nobody", "rename-of-nothing", "rename-to-another-database",
		"rename-to-itself", "rename-to-no-name", "setting-of-nothing", "setting-unknown",
		"shard-of-servers", "shard-on-nobody", "size-below-zero", "split-of-nothing",
		"unindex-of-nothing", "window-unknown", "zone-from-nobody",
		"zone-of-nobody", "zone-without-name",
	}
	LastingMistakes = []string{"range-of-another-key", "shard-by-another-key"}
)
