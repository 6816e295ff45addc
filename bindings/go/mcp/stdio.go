package sealwaxmcp

import (
	"bufio"
	"bytes"
	"context"
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
	rules, err := l.transport.rules.Connection()
	if err != nil {
		return nil, err
	}
	c := &conversation{
		transport: l.transport, rules: rules, writer: l.writer, reader: l.reader,
		incoming: make(chan line), closed: make(chan struct{}), replayed: make(chan []byte, 1),
	}
	go c.read()
	return c, nil
}

type line struct {
	text []byte
	err  error
}

// conversation is a connection of the SDK's, of one message a line.
type conversation struct {
	transport *transport
	rules     *engine.Connection
	reader    io.Reader
	incoming  chan line
	closed    chan struct{}
	closing   sync.Once

	// queue has what Read gives before the next line, and waiting the line that waits for the SDK's answer to a session that is
	// replayed. Only Read uses them.
	queue    []jsonrpc.Message
	waiting  *arrival
	replayed chan []byte

	mu     sync.Mutex
	writer io.Writer
}

// arrival is a line that is being judged.
type arrival struct {
	x *engine.Exchange
	o *outerExchange
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
	c.closing.Do(func() {
		close(c.closed)
		c.rules.Free()
	})
	return nil
}

// Read returns the next message for the SDK.
func (c *conversation) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		if err := c.next(ctx); err != nil {
			return nil, err
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	return next, nil
}

// next takes the next line, or the answer that one waits for.
func (c *conversation) next(ctx context.Context) error {
	incoming := c.incoming
	if c.waiting != nil {
		incoming = nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.EOF
	case answer := <-c.replayed:
		a := c.waiting
		c.waiting = nil
		step, err := a.x.Told(engine.Told{Value: answer})
		return c.take(ctx, a, step, err)
	case next := <-incoming:
		if next.err != nil {
			return next.err
		}
		o := c.transport.outer(ctx, nil)
		o.on = c
		x, step, err := c.rules.Line(next.text)
		return c.take(ctx, &arrival{x, o}, step, err)
	}
}

// take queues what the SDK gets of a line, or answers it.
func (c *conversation) take(ctx context.Context, a *arrival, step *engine.Step, err error) error {
	if err == nil {
		step, err = a.o.caller.drive(ctx, a.x, step)
	}
	if err != nil {
		// What the engine knows of this client is lost.
		c.transport.guard.fault(ctx, err)
		return err
	}
	if step.Step == "ask" {
		c.waiting = a
		return c.deliver(step.Bytes, nil)
	}
	defer a.x.Free()
	if step.Step == "deliver" {
		a.o.deliver(step)
		if c.deliver(step.Bytes, a.o) == nil {
			return nil
		}
		step, err = a.x.On(map[string]any{"broke": "message: expected one that the SDK reads"}, nil)
		if err == nil {
			step, err = a.o.caller.drive(ctx, a.x, step)
		}
		if err != nil {
			return err
		}
	}
	if step.Step == "reply" {
		return c.send(step.Bytes)
	}
	return nil
}

// deliver queues lines for the SDK, if it can read them.
func (c *conversation) deliver(lines []byte, o *outerExchange) error {
	for line := range bytes.SplitSeq(lines, []byte("\n")) {
		message, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return err
		}
		if request, ok := message.(*jsonrpc.Request); ok && o != nil {
			if request.IsCall() {
				id, _ := json.Marshal(request.ID.Raw())
				o.id = string(id)
			}
			request.Extra = c.transport.guard.outer.put(o)
		}
		c.queue = append(c.queue, message)
	}
	return nil
}

// Write sends a message of the SDK.
func (c *conversation) Write(ctx context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	// A handler may write to another client too.
	var of string
	if x := served(ctx); x != nil && x.outer != nil && x.outer.on == c {
		of = x.outer.id
	}
	x, step, err := c.rules.Leaves(text, of)
	if err != nil {
		return err
	}
	defer x.Free()
	if step, err = c.transport.guard.caller(ctx, nil).drive(ctx, x, step); err != nil {
		return err
	}
	switch step.Step {
	case "replayed":
		c.replayed <- step.Bytes
	case "respond", "reply":
		return c.send(step.Bytes)
	}
	return nil
}

// send writes a line.
func (c *conversation) send(text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.writer.Write(append(text, '\n'))
	return err
}
