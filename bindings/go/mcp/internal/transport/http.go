package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/mcp/internal/message"
)

const versionHeader = "Mcp-Protocol-Version"

// HTTP wraps a handler of the SDK.
func (t *Transport) HTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := t.serve(w, r, next); err != nil {
			t.Fault(r.Context(), err)
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}
	})
}

// serve serves a request. With an error nothing was sent.
func (t *Transport) serve(w http.ResponseWriter, r *http.Request, next http.Handler) error {
	ctx := r.Context()
	driver := t.Driver(ctx, &mcp.RequestExtra{TokenInfo: auth.TokenInfoFromContext(ctx), Header: r.Header})
	x, step, err := t.Rules.HTTP(&engine.HTTPRequest{
		Method: r.Method, Encoding: strings.Join(r.Header.Values("Content-Encoding"), ","),
		Version: message.Header(r.Header, versionHeader), Session: message.Header(r.Header, message.SessionHeader),
	})
	if err != nil {
		return err
	}
	defer x.Free()
	passed := &Passed{Driver: driver}
	r = r.Clone(context.WithValue(ctx, contextKey{}, passed))
	step, err = driver.Drive(ctx, x, step)
	if err == nil && step.Step == "ask" {
		body, tooLarge := t.read(w, r)
		replaceBody(r, body)
		if step, err = x.Body(body, tooLarge); err == nil {
			step, err = driver.Drive(ctx, x, step)
		}
	}
	if err != nil {
		return err
	}
	if step.Step != "deliver" {
		reply(w, step)
		return nil
	}
	passed.Step = step
	if step.Negotiated != nil {
		// The handlers need the session, and not its token.
		r.Header.Del(message.SessionHeader)
	}
	if step.Version != "" {
		r.Header.Set(versionHeader, step.Version)
	}
	if step.Bytes != nil {
		replaceBody(r, step.Bytes)
	}
	reports := step.Report != nil && step.Report != false
	if !reports && step.AddSessionID == "" {
		next.ServeHTTP(w, r)
		return nil
	}
	a := &answer{ResponseWriter: w, header: w.Header().Clone(), x: x, reports: reports}
	next.ServeHTTP(a, r)
	if err = a.end(ctx, driver); err != nil && a.sent {
		t.Fault(ctx, err)
		return nil
	}
	return err
}

// read returns the body. One that breaks off is none.
func (t *Transport) read(w http.ResponseWriter, r *http.Request) (body []byte, tooLarge bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, t.MaxBodySize))
	if err != nil {
		limit := new(http.MaxBytesError)
		return nil, errors.As(err, &limit)
	}
	return body, false
}

func replaceBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// reply answers in place of the server.
func reply(w http.ResponseWriter, step *engine.Step) {
	if step.Allow != "" {
		w.Header().Set("Allow", step.Allow)
	}
	if step.Bytes != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(step.Status)
	_, _ = w.Write(step.Bytes)
}

// answer passes the server's answer through the engine.
type answer struct {
	http.ResponseWriter
	// header is the server's, of an answer that the engine may replace.
	header http.Header
	x      *engine.Exchange
	// reports tells that the head waits for the end, if the body changes.
	reports bool
	status  int
	// changes tells that the body goes through the engine.
	changes, sent bool
	err           error
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status != 0 {
		return
	}
	if status < http.StatusOK {
		a.informs(status)
		return
	}
	a.status = status
	a.changes, a.err = a.x.Answer(status, a.header.Get("Content-Type"), a.header.Get(message.SessionHeader))
	if a.changes {
		a.header.Del("Content-Length")
	}
	if a.err == nil && !(a.changes && a.reports) {
		a.send()
	}
}

// informs sends a head of status 1xx, of which net/http takes any number before the answer. The engine may still replace the answer.
// A switch to another protocol, which ends them, is none of MCP's.
func (a *answer) informs(status int) {
	own := a.ResponseWriter.Header().Clone()
	replace(a.ResponseWriter.Header(), a.header)
	a.ResponseWriter.WriteHeader(status)
	replace(a.ResponseWriter.Header(), own)
}

// send sends the head.
func (a *answer) send() {
	a.sent = true
	replace(a.ResponseWriter.Header(), a.header)
	a.ResponseWriter.WriteHeader(a.status)
}

func replace(header, by http.Header) {
	clear(header)
	maps.Copy(header, by)
}

func (a *answer) Write(piece []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.err == nil && !a.changes {
		return a.ResponseWriter.Write(piece)
	}
	var sent string
	if a.err == nil {
		sent, a.err = a.x.Piece(piece)
	}
	if a.err != nil || sent == "" {
		return len(piece), a.err
	}
	_, err := io.WriteString(a.ResponseWriter, sent)
	return len(piece), err
}

// Flush sends what can be sent.
func (a *answer) Flush() {
	if a.WriteHeader(http.StatusOK); a.sent {
		_ = http.NewResponseController(a.ResponseWriter).Flush()
	}
}

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// end sends what is left, or returns why the guard itself fails.
func (a *answer) end(ctx context.Context, driver Driver) error {
	if a.WriteHeader(http.StatusOK); a.err != nil || !a.changes {
		return a.err
	}
	step, err := a.x.Answered()
	if err == nil {
		step, err = driver.Drive(ctx, a.x, step)
	}
	if err != nil {
		return err
	}
	if step.Step != "respond" {
		reply(a.ResponseWriter, step)
		return nil
	}
	for name, text := range step.Headers {
		a.header.Set(name, text)
	}
	if !a.sent {
		a.send()
	}
	_, _ = a.ResponseWriter.Write(step.Bytes)
	return nil
}
