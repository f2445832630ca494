// Package logs reads what servers record for operators and for themselves: the changelog, the
// balancer's actions, and the migrations and range deletions that are outstanding.
//
// Promise: what it reads is in the terms of those who judge it, and nothing is left out of it.
//
// Refusal: it judges nothing, and asks no server: it reads what a member has.
package logs

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/changelog"
	"github.com/shardproof/shardproof/system/balancer"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/store"
)

// Asked is the entry that a server asks for.
func Asked(server env.NodeID, req *command.LogChange) changelog.Entry {
	return entry(string(server), req.What, req.NS, req.Details)
}

// Changelog is what a member of the config server has of the changelog.
func Changelog(data *store.Store) (all []changelog.Entry) {
	data.Scan(configsvr.Changelog, store.Latest, func(_ string, doc bson.Raw) bool {
		details, _ := doc.Lookup("details").DocumentOK()
		all = append(all,
			entry(text(doc, "server"), text(doc, "what"), text(doc, "ns"), details))
		return true
	})
	return all
}

// Actions are the numbers of the balancer's records.
func Actions(data *store.Store) (all []int64) {
	data.Scan(balancer.ActionLog, store.Latest, func(_ string, doc bson.Raw) bool {
		n, _ := doc.Lookup("_id").AsInt64OK()
		all = append(all, n)
		return true
	})
	return all
}

// Migrations are those that a member of the config server of 4.2 has on record, with what tells one
// from a later one of the same chunk.
func Migrations(data *store.Store) (all []string) {
	data.Scan(configsvr.Migrations, store.Latest, func(_ string, doc bson.Raw) bool {
		all = append(all, fmt.Sprintf("%s from %s to %s, requested as %q at version %s",
			text(doc, "_id"), text(doc, "fromShard"), text(doc, "toShard"), text(doc, "name"),
			text(doc, "chunkVersion")))
		return true
	})
	return all
}

// Deletions is how many range deletions a member of a shard has on record, and how many orphans
// these count together.
func Deletions(data *store.Store) (tasks, orphans int64, err error) {
	data.Scan(rangedel.Namespace, store.Latest, func(_ string, doc bson.Raw) bool {
		var k rangedel.Task
		if k, err = rangedel.Decode(doc); err == nil {
			tasks, orphans = tasks+1, orphans+k.Orphans
		}
		return err == nil
	})
	return tasks, orphans, err
}

func entry(server, what, ns string, details bson.Raw) changelog.Entry {
	e := changelog.Entry{What: what, NS: ns, Server: server}
	if elements, err := details.Elements(); err == nil && len(elements) > 0 {
		e.Details = details.String()
		e.Migration, e.From, e.To = text(details, "migration"), text(details, "from"),
			text(details, "to")
		e.Min, e.Max = bound(details, "min"), bound(details, "max")
	}
	return e
}

func text(doc bson.Raw, field string) string {
	s, _ := doc.Lookup(field).StringValueOK()
	return s
}

// bound is the encoded key of a bound; empty when there is none.
func bound(details bson.Raw, field string) string {
	doc, ok := details.Lookup(field).DocumentOK()
	if !ok {
		return ""
	}
	first, err := doc.IndexErr(0)
	if err != nil {
		return ""
	}
	k, err := key.Encode(first.Value())
	if err != nil {
		return ""
	}
	return string(k)
}
