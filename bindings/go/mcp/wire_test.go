package sealwaxmcp_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// wireCase is one of tests/vectors/wire.json over HTTP; wire.py says what it holds.
type wireCase struct {
	Name     string
	Settings struct{ Transport struct{ SEP1359 bool } }
	HTTP     *struct {
		Method, Encoding       string
		Version, Session, Body any
	}
	Asks, Asked      []string
	Delivers         *struct{ Body *string }
	Replies, Instead *struct {
		Status      int
		Allow, Body string
	}
	Answer struct {
		Status              int
		Type, Session, Body string
	}
	Leaves, Header, Logged, Broke string
}

const maxBody = 1 << 20

// Each request of the vectors is answered by its bytes over a real connection, and what the server answers leaves by them.
func TestTheWireOverHTTP(t *testing.T) {
	var vectors struct{ Cases []wireCase }
	if err := json.Unmarshal(must(os.ReadFile("../../../tests/vectors/wire.json")), &vectors); err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, c := range vectors.Cases {
		// A handler that panics ends the connection, as net/http does.
		if c.HTTP != nil && c.Broke == "" {
			t.Run(c.Name, c.play)
			played++
		}
	}
	if played < 80 {
		t.Errorf("expected more cases, found %d", played)
	}
}

func (c wireCase) play(t *testing.T) {
	codec := codecOf(freshKeys())
	const settled = `{"clientCapabilities":{},"clientInfo":{"name":"c","version":"1"},"protocolVersion":"2025-11-25","serverCapabilities":{}}`
	session := must(must(codec.View(sealwax.Subject("alice"))).Session().Seal([]byte(settled)))
	known := []string{"{t}", session, "{bad}", session[:len(session)-2] + "AA"}
	text := func(of any) string {
		if coded, ok := of.(map[string]any); ok {
			if coded["large"] != nil {
				return strings.Repeat(" ", maxBody+1)
			}
			return string(must(hex.DecodeString(coded["hex"].(string))))
		}
		found, _ := of.(string)
		return strings.NewReplacer(known...).Replace(found)
	}
	var codes []string
	asked := 0
	guard := must(sealwaxmcp.New(codec, principal(func() sealwax.Principal {
		asked++
		return sealwax.Subject("alice")
	}), sealwaxmcp.WithLogger(quiet), sealwaxmcp.OnRefused(func(r sealwaxmcp.Refusal) { codes = append(codes, r.Code) })))
	options := []sealwaxmcp.TransportOption{sealwaxmcp.MaxBodySize(maxBody)}
	if c.Settings.Transport.SEP1359 {
		options = append(options, sealwaxmcp.SEP1359(), sealwaxmcp.TransportTTL(10*time.Minute))
	}
	var delivered *string
	server := httptest.NewServer(must(guard.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := string(must(io.ReadAll(r.Body)))
		if delivered = &body; int(r.ContentLength) != len(body) {
			t.Errorf("expected a length of %d, found %d", len(body), r.ContentLength)
		}
		if token := r.Header.Get("Mcp-Session-Id"); token != "" {
			t.Errorf("the handler has the token %s", token)
		}
		if c.Answer.Status == 0 {
			return
		}
		w.Header().Set("Content-Type", c.Answer.Type)
		if c.Answer.Type == "application/json" {
			w.Header().Set("Content-Length", fmt.Sprint(len(c.Answer.Body)))
		}
		if c.Answer.Session != "" {
			w.Header().Set("Mcp-Session-Id", c.Answer.Session)
		}
		w.WriteHeader(c.Answer.Status)
		for piece := range slices.Chunk([]byte(c.Answer.Body), 7) {
			must(w.Write(piece))
		}
	}), options...)))
	defer server.Close()
	request := must(http.NewRequestWithContext(t.Context(), c.HTTP.Method, server.URL, strings.NewReader(text(c.HTTP.Body))))
	for name, sent := range map[string]any{"Mcp-Protocol-Version": c.HTTP.Version, "Mcp-Session-Id": c.HTTP.Session, "Content-Encoding": c.HTTP.Encoding} {
		if _, several := sent.(map[string]any); several {
			request.Header[name] = []string{session, session}
		} else if value := text(sent); value != "" {
			request.Header.Set(name, value)
		}
	}
	response := must(http.DefaultClient.Do(request))
	defer response.Body.Close()
	told := string(must(io.ReadAll(response.Body)))
	replies := c.Replies
	if c.Instead != nil {
		replies = c.Instead
	}
	switch {
	case (c.Delivers != nil) != (delivered != nil):
		t.Fatalf("expected that the server gets %v, answered %d %s", c.Delivers != nil, response.StatusCode, told)
	case replies != nil:
		if response.StatusCode != replies.Status || told != text(replies.Body) || response.Header.Get("Allow") != replies.Allow {
			t.Errorf("expected %+v, found %d %s", *replies, response.StatusCode, told)
		}
	case c.Answer.Status != 0:
		begun := response.Header.Get("Mcp-Session-Id")
		if known = append(known, "{new}", begun); response.StatusCode != c.Answer.Status || told != text(c.Leaves) || (begun != "") != (c.Header != "") {
			t.Errorf("expected %s, found %d %s", text(c.Leaves), response.StatusCode, told)
		}
	}
	if c.Delivers != nil {
		expected := text(c.HTTP.Body)
		if c.Delivers.Body != nil {
			expected = text(*c.Delivers.Body)
		}
		if *delivered != expected {
			t.Errorf("expected the body %s, found %s", expected, *delivered)
		}
	}
	if expected := len(c.Asks) + len(c.Asked); asked != expected && c.Logged == "" {
		t.Errorf("expected to be asked %d times, found %d", expected, asked)
	}
	if c.Logged == "" && len(codes) > 0 || c.Logged != "" && !slices.Equal(codes, []string{c.Logged}) {
		t.Errorf("expected %q in the log, found %q", c.Logged, codes)
	}
}

// heads is what a client sees of each head.
type heads struct {
	http.ResponseWriter
	seen []string
}

func (h *heads) WriteHeader(status int) {
	h.seen = append(h.seen, fmt.Sprintf("%d %s %.4s", status, h.Header().Get("Link"), h.Header().Get("Mcp-Session-Id")))
}

// A head of status 103 leaves at once, and the session with the answer that follows. What the guard answers instead has none of the
// server's headers.
func TestAnEarlyHintIsNoAnswer(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	for last, answers := range map[string]http.Handler{
		"200 hint sw1.": s.handler(true),
		"500  ":         http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no answer to the request") }),
	} {
		guarded := must(s.guard.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Link", "hint")
			w.WriteHeader(http.StatusEarlyHints)
			answers.ServeHTTP(w, r)
		})))
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize",`+
			`"params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"client","version":"1"}}}`))
		request.Header = http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
		h := &heads{ResponseWriter: httptest.NewRecorder()}
		guarded.ServeHTTP(h, request)
		if !slices.Equal(h.seen, []string{"103 hint ", last}) {
			t.Errorf("expected %q last, found %q", last, h.seen)
		}
	}
}
