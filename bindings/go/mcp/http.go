package sealwaxmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

const versionHeader = "Mcp-Protocol-Version"

// HTTP wraps a stateless handler of the SDK, to give clients of revisions up to 2025-11-25 their sessions. Call it after
// [Guard.Protect], and put it inside of the authentication:
//
//	handler := mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{Stateless: true})
//	wrapped, err := guard.HTTP(handler)
//	…
//	http.Handle("/mcp", auth.RequireBearerToken(verify, nil)(wrapped))
//
// The answer to initialize has a header Mcp-Session-Id: a token that holds the negotiated session. Later requests are verified
// before the server sees them. A request without the header gets 400, unless [TransportOptional]; one whose session is refused
// gets 404. DELETE ends a session, if a ledger records it. Requests of revision 2026-07-28 pass unchanged. A stateless
// server of the earlier revisions cannot ask its client: it has no elicitation, sampling or roots.
func (g *Guard) HTTP(next http.Handler, options ...TransportOption) (http.Handler, error) {
	t, err := g.transport(engine.Transport{Required: true}, options)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.serveHTTP(w, r, next) }), nil
}

func (t *transport) serveHTTP(w http.ResponseWriter, r *http.Request, next http.Handler) {
	ctx := r.Context()
	// The SDK's own rule for routing: a comparison of texts (streamable.go, ephemeralConnectOpts).
	version := r.Header.Get(versionHeader)
	facts := engine.TransportMessage{HTTP: r.Method, Version: version, Modern: version >= modern}
	switch sent := r.Header.Values(sessionHeader); len(sent) {
	case 0:
	case 1:
		facts.Header = clientValue(sent[0])
	default:
		facts.Header = true
	}
	var message envelope
	if r.Method == http.MethodPost && !facts.Modern {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, t.maxBody))
		if err != nil {
			tooLarge := new(http.MaxBytesError)
			status := http.StatusBadRequest
			if errors.As(err, &tooLarge) {
				status = http.StatusRequestEntityTooLarge
			}
			http.Error(w, http.StatusText(status), status)
			return
		}
		if message = envelopeOf(body); message != nil {
			if t.settings.SEP1359 {
				facts.MessageSessionID = message.takeSession()
			}
			// What was checked, and not what another reader may find in the same text.
			body, _ = json.Marshal(message)
		}
		facts.Unreadable = message == nil && !json.Valid(body)
		r = r.Clone(ctx)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	from := &mcp.RequestExtra{TokenInfo: auth.TokenInfoFromContext(ctx), Header: r.Header}
	o, step, err := t.enter(ctx, message, facts, from)
	if err != nil {
		_ = t.guard.internal(ctx, err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	defer o.close()
	if step.Step != "deliver" {
		o.answer(w, step)
		return
	}
	if facts.Modern {
		next.ServeHTTP(w, r)
		return
	}
	r = r.Clone(context.WithValue(ctx, outerKey{}, o))
	r.Header.Del(sessionHeader)
	if step.Version != "" {
		r.Header.Set(versionHeader, step.Version)
	}
	switch {
	case o.begins:
		t.beginHTTP(w, r, next, o)
	case o.session != "":
		carrying := &carrier{ResponseWriter: w, session: o.session}
		next.ServeHTTP(carrying, r)
		carrying.end()
	default:
		next.ServeHTTP(w, r)
	}
}

// beginHTTP answers an initialize. Its answer ends with the result, so it is held back whole.
func (t *transport) beginHTTP(w http.ResponseWriter, r *http.Request, next http.Handler, o *outerExchange) {
	held := &holder{header: http.Header{}, status: http.StatusOK}
	next.ServeHTTP(held, r)
	if held.header.Get(sessionHeader) != "" {
		t.guard.fault(r.Context(), invalid("handler: expected a stateless one, found one with sessions: set StreamableHTTPOptions.Stateless"))
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	o.mu.Lock()
	last := o.last
	o.mu.Unlock()
	if last != nil && last.Step != "respond" {
		o.answer(w, last)
		return
	}
	for name, values := range held.header {
		w.Header()[name] = values
	}
	if last != nil {
		for name, value := range last.Headers {
			w.Header().Set(name, value)
		}
	}
	w.WriteHeader(held.status)
	_, _ = w.Write(held.body.Bytes())
}

// answer sends the answer to a message that does not reach the server.
func (o *outerExchange) answer(w http.ResponseWriter, step *engine.Step) {
	if step.Step == "drop" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if step.Allow != "" {
		w.Header().Set("Allow", step.Allow)
	}
	status := step.Status
	if status == 0 {
		status = http.StatusOK
	}
	body := o.reply(step)
	if body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// holder keeps a response back.
type holder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *holder) Header() http.Header         { return h.header }
func (h *holder) Write(p []byte) (int, error) { return h.body.Write(p) }
func (h *holder) WriteHeader(status int)      { h.status = status }
func (h *holder) Flush()                      {}

// carrier puts the session on the messages of a response, one event at a time.
type carrier struct {
	http.ResponseWriter
	session string
	status  int
	streams bool
	began   bool
	rest    []byte
}

func (c *carrier) WriteHeader(status int) {
	if c.began {
		return
	}
	c.began, c.status = true, status
	c.streams = bytes.HasPrefix([]byte(c.Header().Get("Content-Type")), []byte("text/event-stream"))
	c.Header().Del("Content-Length")
	if c.streams {
		c.ResponseWriter.WriteHeader(status)
	}
}

func (c *carrier) Write(p []byte) (int, error) {
	if !c.began {
		c.WriteHeader(http.StatusOK)
	}
	c.rest = append(c.rest, p...)
	if !c.streams {
		return len(p), nil
	}
	done := bytes.LastIndexByte(c.rest, '\n') + 1
	lines := c.rest[:done]
	c.rest = bytes.Clone(c.rest[done:])
	_, err := c.ResponseWriter.Write(c.lines(lines))
	return len(p), err
}

// lines returns complete lines of events, of which those with a message carry the session. The SDK writes a message as one line.
func (c *carrier) lines(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			out = append(out, line...)
			continue
		}
		out = append(append(append(out, "data: "...), c.carry(bytes.TrimRight(data, "\r\n"))...), '\n')
	}
	return out
}

func (c *carrier) carry(text []byte) []byte {
	message := envelopeOf(text)
	if message == nil {
		return text
	}
	message.putSession(c.session)
	written, err := json.Marshal(message)
	if err != nil {
		return text
	}
	return written
}

// end sends what is left.
func (c *carrier) end() {
	if c.streams {
		if len(c.rest) > 0 {
			_, _ = c.ResponseWriter.Write(c.rest)
		}
		return
	}
	if !c.began {
		return
	}
	c.ResponseWriter.WriteHeader(c.status)
	_, _ = c.ResponseWriter.Write(c.carry(c.rest))
}

// Flush sends what can be sent.
func (c *carrier) Flush() {
	if flusher, ok := c.ResponseWriter.(http.Flusher); ok && c.streams {
		flusher.Flush()
	}
}
