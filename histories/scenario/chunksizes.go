package scenario

import "github.com/shardproof/shardproof/histories/commandkind"

// VisitChunkSizes visits every size of a chunk that commands set: with the name of the collection
// that it is for, or with none when it is for all that have no size of their own.
func VisitChunkSizes(commands []Command, visit func(ns string, value *string)) {
	for i := range commands {
		switch c := &commands[i]; {
		case c.Do == commandkind.ChunkSize:
			visit(c.Name, &c.Value)
		case c.Do == commandkind.SetParameter && c.Name == "chunkSizeBytes":
			visit("", &c.Value)
		case c.Do == commandkind.PutSetting && c.Name == "chunksize":
			for j := range c.Fields {
				visit("", &c.Fields[j].Value)
			}
		}
	}
}
