package transport

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// IO returns a transport of the SDK's over streams, of one message a line.
func (t *Transport) IO(reader io.Reader, writer io.Writer) mcp.Transport {
	return &streams{t, reader, writer}
}

type streams struct {
	*Transport
	reader io.Reader
	writer io.Writer
}

// Connect begins the conversation.
func (s *streams) Connect(context.Context) (mcp.Connection, error) {
	rules, err := s.Rules.Connection()
	if err != nil {
		return nil, err
	}
	c := &conversation{
		streams: s, rules: rules, incoming: make(chan []byte), closed: make(chan struct{}), replayed: make(chan []byte, 1),
	}
	go c.read()
	return c, nil
}

// conversation is a connection of the SDK's.
type conversation struct {
	*streams
	rules *engine.Connection
	// incoming has the lines, and is closed at their end, which ended tells.
	incoming chan []byte
	ended    error
	closed   chan struct{}
	closing  sync.Once

	// queue has what Read gives before the next line, and waiting the line that waits for the SDK's answer to a session that is
	// replayed. Only Read uses them.
	queue    []jsonrpc.Message
	waiting  *Passed
	replayed chan []byte

	// writing is held while a line is written.
	writing sync.Mutex
}

// read passes lines on until the end. Nothing interrupts a read of stdin, so this may outlive the conversation.
func (c *conversation) read() {
	lines := bufio.NewScanner(c.reader)
	lines.Buffer(nil, mcp.DefaultMaxLineLength)
	lines.Split(func(data []byte, atEnd bool) (int, []byte, error) {
		// What is left after a read that failed is no line. There is no error at the end of the input.
		return bufio.ScanLines(data, atEnd && lines.Err() == nil)
	})
	for lines.Scan() {
		select {
		case c.incoming <- bytes.Clone(lines.Bytes()):
		case <-c.closed:
			return
		}
	}
	if c.ended = cmp.Or(lines.Err(), io.EOF); errors.Is(c.ended, bufio.ErrTooLong) {
		c.ended = fmt.Errorf("sealwax: expected a line of at most %d bytes, found a longer one", mcp.DefaultMaxLineLength)
	}
	close(c.incoming)
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
		passed := c.waiting
		c.waiting = nil
		step, err := passed.x.Told(engine.Told{Value: answer})
		return c.take(ctx, passed, step, err)
	case line, ok := <-incoming:
		if !ok {
			return c.ended
		}
		x, step, err := c.rules.Line(line)
		return c.take(ctx, &Passed{Driver: c.Driver(ctx, nil), on: c, x: x}, step, err)
	}
}

// take queues what the SDK gets of a line, or answers it.
func (c *conversation) take(ctx context.Context, passed *Passed, step *engine.Step, err error) error {
	if err == nil {
		step, err = passed.Driver.Drive(ctx, passed.x, step)
	}
	if err != nil {
		// What the engine knows of this client is lost.
		c.Fault(ctx, err)
		return err
	}
	if step.Step == "ask" {
		c.waiting = passed
		return c.deliver(step.Bytes, nil)
	}
	defer passed.x.Free()
	if step.Step == "deliver" {
		passed.Step = step
		if c.deliver(step.Bytes, passed) == nil {
			return nil
		}
		step, err = passed.x.On(map[string]any{"broke": "message: expected one that the SDK reads"}, nil)
		if err == nil {
			step, err = passed.Driver.Drive(ctx, passed.x, step)
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
func (c *conversation) deliver(lines []byte, passed *Passed) error {
	for line := range bytes.SplitSeq(lines, []byte("\n")) {
		message, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return err
		}
		if request, ok := message.(*jsonrpc.Request); ok && passed != nil {
			if request.IsCall() {
				id, _ := json.Marshal(request.ID.Raw())
				passed.id = string(id)
			}
			request.Extra = passed.extra()
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
	if passed := c.Served(ctx); passed != nil && passed.on == c {
		of = passed.id
	}
	x, step, err := c.rules.Leaves(text, of)
	if err != nil {
		return err
	}
	defer x.Free()
	if step, err = c.Driver(ctx, nil).Drive(ctx, x, step); err != nil {
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
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.writer.Write(append(text, '\n'))
	return err
}
