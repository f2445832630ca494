package wire

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/wire/failcommand"
	"github.com/shardproof/shardproof/system/wire/frame"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// greetingLimit bounds what a client may send before it has authenticated.
const greetingLimit = 64 << 10

// mostAnswer bounds the document of an answer, and leaves room for the header of its message.
const mostAnswer = frame.MaxMessage - 1<<10

// errClosed ends a connection on behalf of the fail point.
var errClosed = errors.New("closed by the fail point")

// connection is the connection of one client.
type connection struct {
	server  *Server
	raw     net.Conn
	in      *bufio.Reader
	answers int32
	appName string
	login   login
}

func newConnection(s *Server, raw net.Conn) *connection {
	return &connection{server: s, raw: raw, in: bufio.NewReader(raw)}
}

// run reads and answers messages until the connection ends.
func (c *connection) run(ctx context.Context) error {
	for {
		m, err := c.read()
		if errors.Is(err, frame.ErrMalformed) {
			f := &reply.Failure{Number: reply.Number(reply.ProtocolError), Message: err.Error()}
			return errors.Join(err, c.send(&frame.Message{}, f.Document()))
		}
		if err != nil {
			return err
		}
		if m.MoreToCome { // the client may go at once, and its request counts
			if _, err := c.answer(ctx, m); err != nil {
				return err
			}
			continue
		}
		doc, err := c.attended(ctx, m)
		if err != nil {
			return err
		}
		if err := c.send(m, doc); err != nil {
			return err
		}
	}
}

// stranger reports whether the client must authenticate and has not.
func (c *connection) stranger() bool { return c.server.cfg.Users != nil && c.login.user == "" }

// read reads the next message: a short and early one of a stranger.
func (c *connection) read() (*frame.Message, error) {
	limit, until := frame.MaxMessage, time.Time{}
	if c.stranger() {
		limit, until = greetingLimit, time.Now().Add(c.server.cfg.Silence)
	}
	if err := c.raw.SetReadDeadline(until); err != nil {
		return nil, err
	}
	return frame.Read(c.in, limit)
}

// unattended is how long a request takes before it is noticed that its client has disconnected.
const unattended = 100 * time.Millisecond

// attended is the answer to one message, whose request is interrupted when the client disconnects.
// A client that sends more meanwhile is there.
func (c *connection) attended(ctx context.Context, m *frame.Message) (bson.D, error) {
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	over := make(chan struct{})
	listen := time.AfterFunc(unattended, func() {
		defer close(over)
		_, err := c.in.Peek(1)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			interrupt()
		}
	})
	doc, err := c.answer(ctx, m)
	if !listen.Stop() {
		// The listener has begun; a deadline that is over ends it, and read sets the next one.
		err = errors.Join(err, c.raw.SetReadDeadline(time.Unix(1, 0)))
		<-over
	}
	return doc, err
}

// send sends an answer. If one were longer than a message may be, as a group of all documents can
// be, the client would close the connection and ask again.
func (c *connection) send(m *frame.Message, doc bson.D) error {
	raw, err := bson.Marshal(doc)
	if err == nil && len(raw) > mostAnswer {
		raw, err = bson.Marshal(reply.FailureOf(errcode.New(errcode.BSONObjectTooLarge,
			"the answer would have %d bytes, and at most %d are allowed",
			len(raw), mostAnswer)).Document())
	}
	if err != nil {
		return err
	}
	c.answers++
	_, err = c.raw.Write(frame.AppendReply(nil, m, c.answers, raw))
	return err
}

// answer is the answer to one message; an error ends the connection.
func (c *connection) answer(ctx context.Context, m *frame.Message) (bson.D, error) {
	r, err := request.Parse(m)
	if err != nil {
		return reply.FailureOf(err).Document(), nil
	}
	c.identify(r)
	if doc, ours := c.login.step(c.server.cfg.Users, r); ours {
		return doc, nil
	}
	if c.stranger() && !anonymous[r.Name] {
		err := errcode.New(reply.Unauthorized, "command %s requires authentication", r.Name)
		return reply.FailureOf(err).Document(), nil
	}
	return c.execute(ctx, r)
}

// anonymous are the commands that are allowed before authentication.
var anonymous = map[string]bool{
	"hello": true, "isMaster": true, "ismaster": true, "buildInfo": true, "buildinfo": true,
	"ping": true, "saslStart": true, "saslContinue": true, "connectionStatus": true,
	"logout": true,
}

// identify notes what the client calls itself, which its first hello says, and tells the request.
func (c *connection) identify(r *request.Request) {
	if client, err := r.Document("client"); err == nil && c.appName == "" && client != nil {
		application, _ := request.Document(client, "application")
		c.appName, _ = request.Text(application, "name", "")
	}
	r.AppName, r.User, r.RemoteAddr = c.appName, c.login.user, c.raw.RemoteAddr().String()
}

// execute runs the command on the node. When the fail point blocks a command, the wait is here,
// where it holds up no other client.
func (c *connection) execute(ctx context.Context, r *request.Request) (doc bson.D, err error) {
	s := c.server
	var fate failcommand.Fate
	answered := false
	err = s.cfg.Runner.Run(ctx, "wire."+r.Name, func(t env.Task) {
		if fate = s.table.Meet(r); fate.Block == 0 && !fate.Close {
			doc, answered = s.table.Answer(t, r, fate), true
		}
	})
	if err != nil || answered {
		return doc, err
	}
	select {
	case <-time.After(fate.Block):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if fate.Close {
		return nil, errClosed
	}
	err = s.cfg.Runner.Run(ctx, "wire."+r.Name, func(t env.Task) {
		doc = s.table.Answer(t, r, fate)
	})
	return doc, err
}
