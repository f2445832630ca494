package sim

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// encode notes the packet's message as bytes, in a world with a codec.
func (w *World) encode(p *packet) {
	if w.opts.Codec != nil && p.message != nil {
		p.bytes = w.bytes(p.message)
	}
}

func (w *World) bytes(m env.Message) []byte {
	b, err := w.opts.Codec.Encode(m)
	if err != nil {
		panic(fmt.Sprintf("message %T cannot be encoded: %v", m, err))
	}
	return b
}

// decode is the message as the receiver gets it. A packet that arrives is where a change by its
// sender is noticed.
func (w *World) decode(p *packet) env.Message {
	if w.opts.Codec == nil || p.message == nil {
		return p.message
	}
	w.unchanged(p, p.message, "sender")
	m, err := w.opts.Codec.Decode(p.bytes)
	if err != nil {
		panic(fmt.Sprintf("message %T cannot be decoded: %v", p.message, err))
	}
	return m
}

// compare proves after a handler has ended that neither side changed the request.
func (w *World) compare(p *packet, received env.Message) {
	if w.opts.Codec != nil && p.message != nil {
		w.unchanged(p, p.message, "sender")
		w.unchanged(p, received, "receiver")
	}
}

func (w *World) unchanged(p *packet, m env.Message, by string) {
	if !bytes.Equal(w.bytes(m), p.bytes) {
		panic(fmt.Sprintf("message %s #%d (%T) was changed by its %s after it was sent",
			p.channel.site, p.nth, m, by))
	}
}

// coded is err as it crosses the network: with a code, and with a detail of its own.
func (w *World) coded(err error) error {
	e, ok := errors.AsType[*errcode.Error](err)
	if !ok {
		return errcode.New(errcode.Internal, "%v", err)
	}
	if w.opts.Codec == nil || e.Detail == nil {
		return e
	}
	detail, err := w.opts.Codec.Decode(w.bytes(e.Detail))
	if err != nil {
		panic(fmt.Sprintf("detail %T cannot be decoded: %v", e.Detail, err))
	}
	return &errcode.Error{Code: e.Code, Reason: e.Reason, Detail: detail}
}
