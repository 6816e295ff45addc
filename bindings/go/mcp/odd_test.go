package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// odd are bodies and lines that no honest client sends.
var odd = []string{
	``, ` `, `null`, `7`, `"text"`, `[]`, `[[]]`, `{}`, `{`, `}`, "\x00", "\xff\xfe", `{"jsonrpc":"2.0"}`,
	`{"jsonrpc":"2.0","id":null,"method":"tools/call"}`,
	`{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{}}`,
	`{"jsonrpc":"2.0","id":1,"method":7}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":[]}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"id":1e400}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"id":7,"id":8}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"x":"\ud800"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"sessions/create"}`,
	`{"jsonrpc":"2.0","id":1,"method":"sessions/delete","params":null}`,
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7,"capabilities":[],"clientInfo":null}}`,
	`{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
	`{"jsonrpc":"2.0","method":"initialize","params":{}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"sessionId":{}}}`,
	`{"jsonrpc":"2.0","id":1,"result":null,"sessionId":["x"]}`,
	`{"jsonrpc":"2.0","id":1,"error":7}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","sessionId":"x","sessionId":7}`,
	`{"jsonrpc":"2.0","id":1,"method":"session/terminate","sessionId":null}`,
	`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
	`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 5000) + `"}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/session":` + strings.Repeat(`{"x":`, 200) + `1` + strings.Repeat("}", 200) + `}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":7,"cursor":"` + strings.Repeat("y", 100_000) + `"}}`,
}

// Whatever comes over HTTP is answered, and the server goes on.
func TestOddMessagesOverHTTP(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, &mcp.StreamableHTTPOptions{Stateless: true, Logger: quiet})
	for _, options := range [][]sealwaxmcp.TransportOption{nil, {sealwaxmcp.SEP1359()}, {sealwaxmcp.SEP1359(), sealwaxmcp.TransportOptional()}} {
		handler := must(s.guard.HTTP(inner, options...))
		for _, body := range odd {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, "BREW"} {
				for _, headers := range []map[string]string{
					nil, {"Mcp-Protocol-Version": older}, {"Mcp-Protocol-Version": newest}, {"Mcp-Protocol-Version": "\xff"},
					{"Mcp-Session-Id": "x"}, {"Mcp-Session-Id": "\xff"},
				} {
					request := httptest.NewRequestWithContext(t.Context(), method, "/mcp", strings.NewReader(body))
					request.Header.Set("Accept", "application/json, text/event-stream")
					request.Header.Set("Content-Type", "application/json")
					for name, value := range headers {
						request.Header[name] = []string{value}
					}
					recorder := httptest.NewRecorder()
					handler.ServeHTTP(recorder, request)
					if recorder.Code >= 500 {
						t.Errorf("%.100s %s %v: %d %s", body, method, headers, recorder.Code, recorder.Body)
					}
				}
			}
		}
	}
	if told := toldOf(call(t, overHTTP(t, listening(t, newShop(codecOf(freshKeys()), sealwaxmcp.FromToken)), "alice", newest), "mint", nil)); !strings.Contains(told, "ulid") {
		t.Errorf("afterwards: %s", told)
	}
}

// A line that is no message is answered, or ends the conversation as the SDK does; nothing hangs.
func TestOddMessagesOnStdio(t *testing.T) {
	// Of two requests of one id at a time, the second is refused.
	again := strings.Replace(initialize, `"id":1`, `"id":99`, 1)
	for _, line := range odd {
		s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
		reads, writer := io.Pipe()
		reader, writes := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.server.Run(ctx, must(s.guard.IO(reads, writes)))
			_ = writes.Close()
		}()
		go func() { _, _ = io.WriteString(writer, line+"\n"+again+"\n") }()
		answered := make(chan string, 1)
		go func() {
			decoder := json.NewDecoder(reader)
			for {
				var message json.RawMessage
				if decoder.Decode(&message) != nil {
					answered <- "ended"
					return
				}
				if strings.Contains(string(message), "serverInfo") || strings.Contains(string(message), "duplicate") {
					answered <- string(message)
					return
				}
			}
		}()
		select {
		case <-answered:
		case <-time.After(time.Minute):
			t.Errorf("%.100s: no answer", line)
		}
		cancel()
		_ = writer.Close()
		_ = reader.Close()
		<-ended
	}
}

// A line that is no JSON is told so, and the log too. The SDK alone ends at such a line, which is why one that is JSON and no message
// ends the conversation here too.
func TestALineThatIsNoJSONIsToldSo(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	conversation := func(transport func(io.ReadCloser, io.WriteCloser) mcp.Transport, line string) (told string, ended bool) {
		reads, writer := io.Pipe()
		reader, writes := io.Pipe()
		defer writer.Close()
		defer reader.Close()
		over := make(chan struct{})
		go func() {
			_ = s.server.Run(t.Context(), transport(reads, writes))
			close(over)
			_ = writes.Close()
		}()
		go func() { _, _ = io.WriteString(writer, line+"\n") }()
		var message json.RawMessage
		if json.NewDecoder(reader).Decode(&message) != nil {
			<-over
			return "", true
		}
		return string(message), false
	}
	alone := func(in io.ReadCloser, out io.WriteCloser) mcp.Transport {
		return &mcp.IOTransport{Reader: in, Writer: out}
	}
	guarded := func(in io.ReadCloser, out io.WriteCloser) mcp.Transport { return must(s.guard.IO(in, out)) }
	for _, line := range []string{"junk", "{}"} {
		if told, ended := conversation(alone, line); !ended {
			t.Errorf("the SDK alone goes on after %s: %s", line, told)
		}
	}
	if told, _ := conversation(guarded, "junk"); !strings.Contains(told, "-32700") || !strings.Contains(told, `"id":null`) {
		t.Errorf("told %s", told)
	}
	if codes := s.codes(); len(codes) != 1 || codes[0] != "malformed" {
		t.Errorf("logged %v", codes)
	}
}
