package client

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// InsertMany adds documents with one command, in their order, up to the first that is refused. The
// answers are one for each document; of those after a refused one they say so.
func (c *Client) InsertMany(t env.Task, op command.Insert) []Answer {
	op.Session = c.retryable()
	c.batch.statements += len(op.Docs) - 1
	whole := c.document(t, &op, op.Session)
	answers := make([]Answer, len(op.Docs))
	for i := range answers {
		answers[i] = whole.of(i)
	}
	return answers
}

// of is what is known of the document of that number. Whether an earlier attempt has inserted, or
// may yet insert, what the last one has refused or not tried nobody can tell.
func (a Answer) of(i int) Answer {
	n, refused, why := a.Written.N, a.Written.Refused, a.Written.Why
	a.Written.N, a.Written.Refused, a.Written.Why = 0, "", ""
	switch {
	case a.Certainty != OK:
		a.Certainty = Unknown
		return a
	case i < n:
		a.Written.N = 1
		return a
	case i == n && refused != "":
		a.Err = errcode.New(refused, "%s", why)
	default:
		a.Err = errcode.New(errcode.Interrupted, "a document before it was refused: %s", why)
	}
	a.Certainty, a.Time = Failed, 0
	if a.Retries > 0 {
		a.Certainty = Unknown
	}
	return a
}
