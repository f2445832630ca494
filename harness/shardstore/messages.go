package shardstore

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/shardproof/shardproof/system/codec"
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

// classes are the names of classifier.
func classes() []string {
	all := codec.Registered()
	for i, name := range all {
		all[i] = name[strings.LastIndex(name, ".")+1:]
	}
	return all
}

// answerText says what a reply answers, for people: the refusal, or the fields that are set.
func answerText(m env.Message) string {
	if e, ok := m.(*rpc.Envelope); ok {
		if e.Err != nil {
			return e.Err.Error()
		}
		m = e.Body
	}
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return fmt.Sprintf("%v", m)
	}
	var set []string
	for f, value := range v.Fields() {
		if text := valueText(value); text != "" && f.IsExported() {
			set = append(set, f.Name+" "+text)
		}
	}
	return strings.TrimSpace(v.Type().Name() + " " + strings.Join(set, ", "))
}

// valueText is a field's value for people, empty when it is not set or takes more than a few words.
func valueText(v reflect.Value) string {
	switch {
	case v.IsZero():
		return ""
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Map:
		return fmt.Sprintf("(%d)", v.Len())
	case v.Kind() == reflect.Struct || v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		return "set"
	}
	return fmt.Sprint(v.Interface())
}
