package client

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
)

// Stream is an open change stream. It lives on one router and ends with the first failure; to go
// on, open another one after the last token.
type Stream struct {
	client *Client
	router env.NodeID
	id     string
}

// AdvanceClusterTime has the client carry on a cluster time that its application learned of
// elsewhere: what it asks from now on is asked after that time.
func (c *Client) AdvanceClusterTime(ts hlc.Timestamp) {
	c.ep.Clock().Advance(hlc.Vector{Cluster: ts})
}

// Watch opens a change stream, and again on another router when one fails. The batch holds no
// changes, but the token at which the stream begins. Status.ChangeStreamHistoryLost is final:
// nobody can go on behind that token.
func (c *Client) Watch(t env.Task, op command.Watch) (*Stream, *command.ChangeBatch, error) {
	for retries := c.newRetries(); ; {
		router := retries.router()
		batch, err := rpc.Call[command.ChangeBatch](t, c.ep, router, &op, retries.timeout())
		if err == nil {
			return &Stream{c, router, batch.Stream}, batch, nil
		}
		if errcode.Is(err, errcode.ChangeStreamHistoryLost) || !retries.again(t, err) {
			return nil, nil, err
		}
	}
}

// Next asks for what came since. It answers at once; an empty batch is an answer.
func (s *Stream) Next(t env.Task, size int) (*command.ChangeBatch, error) {
	req := &command.NextChanges{Stream: s.id, BatchSize: size}
	batch, err := rpc.Call[command.ChangeBatch](t, s.client.ep, s.router, req,
		s.client.settings.AttemptTimeout)
	if err != nil {
		return nil, err
	}
	s.id = batch.Stream
	return batch, nil
}
