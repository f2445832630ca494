package runner

import "github.com/shardproof/shardproof/histories/scenario"

// sizesOfChunks visits every size of a chunk that commands set: with the name of the collection that it is for, or with none when it is
// for all that have no size of their own.
func sizesOfChunks(commands []scenario.Command, visit func(ns string, value *string)) {
	for i := range commands {
		switch c := &commands[i]; {
		case c.Do == scenario.ChunkSize:
			visit(c.Name, &c.Value)
		case c.Do == scenario.SetParameter && c.Name == "chunkSizeBytes":
			visit("", &c.Value)
		case c.Do == scenario.PutSetting && c.Name == "chunksize":
			for j := range c.Fields {
				visit("", &c.Fields[j].Value)
			}
		}
	}
}
