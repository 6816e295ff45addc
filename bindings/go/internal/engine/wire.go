package engine

import (
	"bytes"
	"strconv"

	"github.com/sealwax/sealwax-go/internal/host"
)

// HTTPRequest is a request around the SDK's handler, without its body. Version and Session are the headers: texts, nil, or true for
// several.
type HTTPRequest struct {
	Method, Encoding string
	Version, Session any
}

// HTTP begins the exchange of an HTTP request.
func (g *Guard) HTTP(r *HTTPRequest) (*Exchange, *Step, error) {
	texts := []text{filled(r.Method), value(r.Version), value(r.Session), filled(r.Encoding)}
	return g.begin(frame{kindHTTP, 0, texts}, TokenFields{})
}

// Body tells the body that the engine asked for, and returns the next step.
func (x *Exchange) Body(body []byte, tooLarge bool) (*Step, error) {
	return x.next(frame{kindBody, flagIf(tooLarge, flagTooLarge), []text{raw(body)}})
}

// Answer tells the head of the SDK's answer, and returns whether its body goes through Piece.
func (x *Exchange) Answer(status int, contentType, session string) (changes bool, err error) {
	texts := []text{raw(strconv.AppendInt(nil, int64(status), 10)), filled(contentType), filled(session)}
	return changes, x.on(frame{kindAnswer, 0, texts}, &changes)
}

// Piece tells a piece of the answer's body, and returns what can be sent.
func (x *Exchange) Piece(piece []byte) (sent string, err error) {
	return sent, x.on(frame{kindPiece, 0, []text{raw(piece)}}, &sent)
}

// Answered tells the end of that body, and returns the next step.
func (x *Exchange) Answered() (*Step, error) {
	return x.next(frame{kind: kindAnswered})
}

// Connection is that of one client on stdio. Goroutines may share it until it is freed.
type Connection struct{ machine }

// Connection begins one.
func (g *Guard) Connection() (*Connection, error) {
	made := &Connection{machine{codec: g.codec}}
	return made, g.do(func(c *host.Call, at host.Ptr) error { return made.begin(c, at, frame{kind: kindConnection}, nil) })
}

// Line begins the exchange of a line of the client's. Serve one line after another.
func (c *Connection) Line(line []byte) (*Exchange, *Step, error) {
	return c.exchange(frame{kindLine, 0, []text{raw(line)}})
}

// Leaves begins the exchange of a message of the SDK's. of is the id of the request that it belongs to, as JSON; empty if that is not
// known.
func (c *Connection) Leaves(message []byte, of string) (*Exchange, *Step, error) {
	// The SDK may pass on what an author wrote; a client decodes it like this.
	message = bytes.ToValidUTF8(message, []byte("\uFFFD"))
	return c.exchange(frame{kindLeaves, 0, []text{raw(message), filled(of)}})
}

func (c *Connection) exchange(f frame) (*Exchange, *Step, error) {
	x, step := &Exchange{machine: machine{codec: c.codec}}, &Step{}
	return x, step, c.do(func(call *host.Call, at host.Ptr) error { return x.begin(call, at, f, step) })
}
