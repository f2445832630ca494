package shardstore

import (
	"reflect"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// classifier names messages: a command by its type, whatever is no command by its own.
func classifier() func(env.Message) string {
	names := make(map[reflect.Type]string)
	return func(m env.Message) string {
		if e, ok := m.(*rpc.Envelope); ok && e.Body != nil {
			m = e.Body
		}
		t := reflect.TypeOf(m)
		name, ok := names[t]
		if !ok {
			name = t.Elem().Name()
			names[t] = name
		}
		return name
	}
}
