package wire

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// Users are the users of a server, with their credentials.
type Users struct {
	stored map[string]scram.StoredCredentials
}

// iterations is the number of rounds in which a password is hashed.
const iterations = 15_000

// ReadUsers reads lines "name:password"; empty lines and those that begin with # are left out. The
// file is a secret.
func ReadUsers(r io.Reader) (*Users, error) {
	u := &Users{stored: make(map[string]scram.StoredCredentials)}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, password, ok := strings.Cut(line, ":")
		if !ok || name == "" || password == "" {
			return nil, fmt.Errorf("line %d of the users is not name:password", n)
		}
		client, err := scram.SHA256.NewClient(name, password, "")
		if err != nil {
			return nil, fmt.Errorf("line %d of the users: %w", n, err)
		}
		factors := scram.KeyFactors{Salt: rand.Text(), Iters: iterations}
		if u.stored[name], err = client.GetStoredCredentialsWithError(factors); err != nil {
			return nil, fmt.Errorf("line %d of the users: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(u.stored) == 0 {
		return nil, fmt.Errorf("there is no user: a line of users is name:password")
	}
	return u, nil
}

func (u *Users) find(name string) (scram.StoredCredentials, error) {
	c, ok := u.stored[name]
	if !ok {
		return c, fmt.Errorf("there is no user %q", name)
	}
	return c, nil
}

// login is the authentication of one client, in progress or done.
type login struct {
	user string
	talk *scram.ServerConversation
}

// step takes a request that belongs to the login; false for every other. A logout is answered as
// any command.
func (l *login) step(users *Users, r *request.Request) (bson.D, bool) {
	if r.Name == "logout" {
		*l = login{}
	}
	if r.Name != "saslStart" && r.Name != "saslContinue" {
		return nil, false
	}
	payload, err := l.next(users, r)
	if err != nil {
		*l = login{}
		err = errcode.New(reply.AuthenticationFailed, "Authentication failed.")
		return reply.FailureOf(err).Document(), true
	}
	done := l.talk.Done()
	if done && l.talk.Valid() {
		l.user = l.talk.Username()
	}
	return reply.Result(
		bson.E{Key: "conversationId", Value: int32(1)},
		bson.E{Key: "done", Value: done},
		bson.E{Key: "payload", Value: bson.Binary{Data: []byte(payload)}},
	), true
}

func (l *login) next(users *Users, r *request.Request) (string, error) {
	_, payload, ok := r.Value("payload").BinaryOK()
	if users == nil || !ok {
		return "", fmt.Errorf("%s has no payload, or there are no users", r.Name)
	}
	if r.Name == "saslStart" {
		if mechanism, err := r.Text("mechanism", ""); err != nil || mechanism != "SCRAM-SHA-256" {
			return "", fmt.Errorf("mechanism %q is not supported", mechanism)
		}
		server, err := scram.SHA256.NewServer(users.find)
		if err != nil {
			return "", err
		}
		l.talk = server.NewConversation()
	}
	if l.talk == nil {
		return "", fmt.Errorf("saslContinue without saslStart")
	}
	if l.talk.Done() && len(payload) == 0 {
		return "", nil
	}
	return l.talk.Step(string(payload))
}
