package sealwaxmcp

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// Stdio returns a transport over stdin and stdout with the sessions of SEP-1359, which outlive the process: a client that sends
// sessionId continues its session after a restart, because the token holds what was negotiated. Call it after [Guard.Protect],
// and pass it to [mcp.Server.Run] of one server. A ledger in memory does not outlive the process: it refuses all sessions that
// are older than itself. The options are [TransportTTL] and [TransportIdle].
func (g *Guard) Stdio(options ...TransportOption) (mcp.Transport, error) {
	return g.IO(os.Stdin, os.Stdout, options...)
}

// IO is [Guard.Stdio] over other streams.
func (g *Guard) IO(reader io.Reader, writer io.Writer, options ...TransportOption) (mcp.Transport, error) {
	t, err := g.transport(engine.Transport{SEP1359: true}, options)
	if err != nil {
		return nil, err
	}
	return &lines{t, reader, writer}, nil
}

type lines struct {
	transport *transport
	reader    io.Reader
	writer    io.Writer
}

// Connect begins the conversation.
func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	c := &conversation{
		transport: l.transport, writer: l.writer, reader: l.reader,
		incoming: make(chan line), closed: make(chan struct{}), replayed: make(chan bool, 1),
	}
	go c.read()
	return c, nil
}

// internalError is what a client hears of a failure of the guard itself.
var internalError = &engine.RPCError{Code: jsonrpc.CodeInternalError, Message: "Internal error"}

type line struct {
	text []byte
	err  error
}

// conversation is a connection of the SDK's, of one message a line.
type conversation struct {
	transport *transport
	reader    io.Reader
	incoming  chan line
	closed    chan struct{}
	closing   sync.Once

	// queue has what Read gives before the next line, and pending what it waits for. Only Read uses them.
	queue   []jsonrpc.Message
	pending *pending

	mu     sync.Mutex
	writer io.Writer
	// initialized tells that the SDK has begun a session, its own or one that was negotiated before.
	initialized bool
	// replaying is the id of an initialize that the SDK is told, though its client sent none; random, so that no client can
	// cancel or answer it.
	replaying string
	replayed  chan bool
	// last is the session of the last message, for messages that answer none.
	last string
}

// read passes lines on until the end. Nothing interrupts a read of stdin, so this may outlive the conversation.
func (c *conversation) read() {
	reader := bufio.NewReader(c.reader)
	for {
		text, err := readLine(reader, mcp.DefaultMaxLineLength)
		select {
		case c.incoming <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

func readLine(reader *bufio.Reader, limit int) ([]byte, error) {
	var text []byte
	for {
		part, err := reader.ReadSlice('\n')
		if text = append(text, part...); len(text) > limit {
			return nil, fmt.Errorf("sealwax: expected a line of at most %d bytes, found a longer one", limit)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(text) > 0:
			return text, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// SessionID returns none: the sessions are the messages'.
func (c *conversation) SessionID() string { return "" }

// Close ends the conversation.
func (c *conversation) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return nil
}

// Read returns the next message for the SDK.
func (c *conversation) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if c.pending != nil {
			if err := c.resume(ctx); err != nil {
				return nil, err
			}
		}
		if len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			return next, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case next := <-c.incoming:
			if next.err != nil {
				return nil, next.err
			}
			message, err := c.take(ctx, next.text)
			if message != nil || err != nil {
				return message, err
			}
		}
	}
}

// take returns what the SDK gets of a line, or nothing where it is answered here.
func (c *conversation) take(ctx context.Context, text []byte) (jsonrpc.Message, error) {
	message := envelopeOf(text)
	if message.isModern() {
		return jsonrpc.DecodeMessage(text)
	}
	facts := engine.TransportMessage{Unreadable: message == nil, MessageSessionID: message.takeSession()}
	o, step, err := c.transport.enter(ctx, message, facts, nil)
	if err != nil {
		_ = c.transport.guard.internal(ctx, err)
		return nil, c.refuse(message)
	}
	resumed := c.resumes(o)
	if !o.begins && !resumed {
		o.close()
	}
	if step.Step != "deliver" {
		o.close()
		return nil, c.answer(o, step)
	}
	// Not the line, so that the SDK reads the message that was checked.
	checked, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	delivered, err := jsonrpc.DecodeMessage(checked)
	if err != nil {
		o.close()
		return nil, err
	}
	if o.begins {
		o.begun = c.begin
	}
	if request, ok := delivered.(*jsonrpc.Request); ok {
		request.Extra = c.transport.guard.outer.put(o)
	}
	c.mu.Lock()
	if o.session != "" {
		c.last = o.session
	}
	c.mu.Unlock()
	if resumed {
		return c.replay(o, delivered)
	}
	return delivered, nil
}

// resumes tells whether a message brings a session that the SDK does not know yet.
func (c *conversation) resumes(o *outerExchange) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return o.negotiated != nil && !c.initialized
}

// pending is a message that waits until the SDK knows its session.
type pending struct {
	o       *outerExchange
	message jsonrpc.Message
}

// replay tells the SDK what was negotiated, before the message.
func (c *conversation) replay(o *outerExchange, message jsonrpc.Message) (jsonrpc.Message, error) {
	params, err := json.Marshal(map[string]any{
		"protocolVersion": o.negotiated.ProtocolVersion,
		"capabilities":    o.negotiated.ClientCapabilities,
		"clientInfo":      o.negotiated.ClientInfo,
	})
	if err != nil {
		return nil, err
	}
	name := rand.Text()
	id, err := jsonrpc.MakeID(name)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.replaying = name
	c.mu.Unlock()
	c.pending = &pending{o, message}
	return &jsonrpc.Request{ID: id, Method: "initialize", Params: params}, nil
}

// resume queues the message that waited, once the SDK has begun its session again, or answers it.
func (c *conversation) resume(ctx context.Context) error {
	waited := c.pending
	c.pending = nil
	defer waited.o.close()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.EOF
	case begun := <-c.replayed:
		if begun {
			initialized := &jsonrpc.Request{Method: "notifications/initialized"}
			c.queue = append(c.queue, initialized, waited.message)
			return nil
		}
	}
	step, err := waited.o.notResumed(ctx)
	if err != nil {
		return err
	}
	return c.answer(waited.o, step)
}

// answer sends the answer to a message that does not reach the server, if it has one.
func (c *conversation) answer(o *outerExchange, step *engine.Step) error {
	if step.Step != "reply" {
		return nil
	}
	message := o.reply(step)
	if message == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.send(message)
}

// refuse answers a message that the guard itself failed at.
func (c *conversation) refuse(message envelope) error {
	if !message.has("method") || !message.has("id") {
		return nil
	}
	o := &outerExchange{identity: message["id"]}
	return c.answer(o, &engine.Step{Step: "reply", Error: internalError})
}

// Write sends a message of the SDK, with its session. Results have theirs already.
func (c *conversation) Write(ctx context.Context, message jsonrpc.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if response, ok := message.(*jsonrpc.Response); ok && c.begunAgain(response) {
		return nil
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	if request, ok := message.(*jsonrpc.Request); ok {
		session := c.last
		// A message that answers none, and that no handler sends, has the session of the last message.
		if x := served(ctx); x != nil && x.outer != nil {
			session = x.outer.session
		}
		if envelope := envelopeOf(text); session != "" && envelope != nil && request.Method != "" {
			envelope.putSession(session)
			if text, err = json.Marshal(envelope); err != nil {
				return err
			}
		}
	}
	return c.send(text)
}

// begin notes that the SDK has begun its client's session.
func (c *conversation) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.initialized = true
}

// begunAgain notes whether the SDK has begun a session again, of which its client must not hear.
func (c *conversation) begunAgain(response *jsonrpc.Response) bool {
	if c.replaying == "" || response.ID.Raw() != c.replaying {
		return false
	}
	c.replaying = ""
	c.initialized = response.Error == nil
	c.replayed <- c.initialized
	return true
}

// send writes a line.
func (c *conversation) send(text []byte) error {
	_, err := c.writer.Write(append(text, '\n'))
	return err
}

// isModern tells whether a message is of a revision without sessions of the transport, by the SDK's own rule (shared.go,
// validateRequestMeta).
func (e envelope) isModern() bool {
	version, ok := envelopeOf(envelopeOf(e["params"])["_meta"]).text(mcp.MetaKeyProtocolVersion)
	return ok && version >= modern
}
