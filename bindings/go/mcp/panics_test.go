package sealwaxmcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// A function of the author's that panics ends no process: where the answer depends on it, that is a refusal, and no text of the
// panic reaches the client or the log.
func TestAPanicOfAnAuthorsFunctionIsARefusal(t *testing.T) {
	var empty map[string]int
	for name, panics := range map[string]func(){
		"an error":          func() { panic(errors.New("password=hunter2")) },
		"a runtime's error": func() { empty["password=hunter2"] = 1 },
	} {
		s := newShop(codecOf(freshKeys()), principal(func() sealwaxmcp.Principal { panics(); return alice() }))
		told := toldOf(call(t, within(t, s.server), "seal", nil))
		if !strings.Contains(told, "-32603") || strings.Contains(told, "hunter2") || strings.Contains(told, "panic") {
			t.Errorf("%s: told %s", name, told)
		}
		refusals := s.told()
		if len(refusals) != 1 || !refusals[0].Fault || !strings.Contains(refusals[0].Message, "a panic at panics_test.go:") ||
			strings.Contains(refusals[0].Message, "hunter2") {
			t.Errorf("%s: refused %+v", name, refusals)
		}
		// Around the server too.
		if told := raw(t, listening(t, s), "sw1.forged"); strings.Contains(told, "hunter2") || !strings.HasPrefix(told, "500 ") {
			t.Errorf("%s: over HTTP: %s", name, told)
		}
	}
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithConfirmFunc("delete",
		func(context.Context, json.RawMessage) (string, error) { panic("password=hunter2") }))
	told := toldOf(call(t, asking(t, s.server, newest, yes), "delete", note{7}))
	if !strings.Contains(told, "-32603") || strings.Contains(told, "hunter2") || len(s.deleted) != 0 {
		t.Errorf("a question: %s", told)
	}
	s.begins = func() { panic("password=hunter2") }
	_, err := mcp.CallCustomMethod[*customParams, *customResult](t.Context(), within(t, s.server), "sessions/create", &customParams{})
	if told = toldOf(nil, err); !strings.Contains(told, "-32603") || strings.Contains(told, "hunter2") {
		t.Errorf("a first value: %s", told)
	}
}

// Hooks and the logger decide nothing, so their panics change no answer.
func TestAPanicOfAHookChangesNothing(t *testing.T) {
	var (
		told atomic.Int64
		text bytes.Buffer
	)
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous,
		sealwaxmcp.WithLogger(slog.New(slog.NewTextHandler(&text, nil))),
		sealwaxmcp.OnRefused(func(sealwaxmcp.Refusal) { panic("password=hunter2") }),
		sealwaxmcp.OnRefused(func(sealwaxmcp.Refusal) { told.Add(1) }),
		sealwaxmcp.OnEvent(func(sealwaxmcp.TokenEvent) { panic("password=hunter2") }))
	c := within(t, s.server)
	if answered := states.present(t, c, states.good(t, c)); !strings.Contains(answered, states.taken) {
		t.Errorf("a good one: %s", answered)
	}
	if answered := states.present(t, c, "forged"); !strings.Contains(answered, "-32602") {
		t.Errorf("a forged one: %s", answered)
	}
	logged := text.String()
	if told.Load() != 1 || !strings.Contains(logged, "OnRefused: ") || !strings.Contains(logged, "OnEvent: ") || strings.Contains(logged, "hunter2") {
		t.Errorf("told %d, logged %s", told.Load(), logged)
	}
	s = newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithLogger(slog.New(breaking{slog.DiscardHandler})))
	if answered := states.present(t, within(t, s.server), "forged"); !strings.Contains(answered, "-32602") {
		t.Errorf("a logger that panics: %s", answered)
	}
}

type breaking struct{ slog.Handler }

func (breaking) Enabled(context.Context, slog.Level) bool { return true }

func (breaking) Handle(context.Context, slog.Record) error { panic("password=hunter2") }
