package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// settings are those of a transcript.
type settings struct {
	RequestStateTTL *int64
	Only            map[string][]string
	Confirm         map[string]struct {
		Message  *string
		Words    json.RawMessage
		Fallback sealwaxmcp.Fallback
	}
	ConfirmDestructive any
	// Tools are the pages of the server's own list, by their cursors.
	Tools      map[string]mcp.ListToolsResult
	ConfirmTTL *int64
	Sessions   *struct {
		Initial, Required      json.RawMessage
		HeldByServer, NoExpiry bool
		TTL                    *int64
	}
	Transport struct {
		Required  *bool
		TTL, Idle *int64
		OnLost    string
		SEP1359   bool
	}
	Ledger        string
	LedgerOptions ledgerSettings
}

var quiet = slog.New(slog.DiscardHandler)

// stage has a guard with the settings of a transcript, and its server.
type stage struct {
	clock    *host.Clock
	codec    *sealwax.Codec
	guard    *sealwaxmcp.Guard
	sessions *sealwaxmcp.Sessions[json.RawMessage]
	server   *mcp.Server
	ledger   *scriptedLedger
	wrapping []sealwaxmcp.TransportOption
	// ways has the handlers of HTTP, by their paths.
	ways   map[string]http.Handler
	who    atomic.Pointer[any]
	method atomic.Value
	tools  map[string]mcp.ListToolsResult
}

func newStage(one told) *stage {
	s := &stage{clock: host.NewClock(one.Now * 1000), tools: one.Settings.Tools}
	ring := must(sealwax.ParseKeyRing(one.Keys))
	s.codec = must(host.NewCodecOn(s.clock, ring, one.Audience, []sealwax.Option(nil))).(*sealwax.Codec)
	var who sealwaxmcp.Principals = sealwaxmcp.PrincipalFunc(s.principal)
	if one.Anonymous {
		who = sealwaxmcp.Anonymous
	}
	s.guard = must(sealwaxmcp.New(s.codec, who, s.options(one.Settings)...))
	if one.Settings.Sessions != nil {
		s.sessions = s.newSessions(one.Settings)
	}
	s.server = s.newServer()
	must(0, s.guard.Protect(s.server))
	s.wrapping = wrapping(one.Settings)
	server := func(*http.Request) *mcp.Server { return s.server }
	plain := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true})
	s.ways = map[string]http.Handler{"/plain": plain, "/wrapped": must(s.guard.HTTP(plain, s.wrapping...))}
	return s
}

func (s *stage) now() time.Time { return time.UnixMilli(int64(s.clock.Now())) }

func (s *stage) options(settings settings) []sealwaxmcp.Option {
	options := []sealwaxmcp.Option{sealwaxmcp.OnRefused(refused), sealwaxmcp.OnEvent(happened), sealwaxmcp.WithLogger(quiet)}
	options = with(options, settings.RequestStateTTL, sealwaxmcp.WithRequestStateTTL)
	for target, names := range settings.Only {
		options = append(options, sealwaxmcp.WithOnly(target, names...))
	}
	options = with(options, settings.ConfirmTTL, sealwaxmcp.WithConfirmTTL)
	for tool, confirm := range settings.Confirm {
		if confirm.Message != nil {
			options = append(options, sealwaxmcp.WithConfirm(tool, *confirm.Message, confirm.Fallback))
		} else {
			options = append(options, sealwaxmcp.WithConfirmFunc(tool, worded(confirm.Words), confirm.Fallback))
		}
	}
	switch with := settings.ConfirmDestructive.(type) {
	case bool:
		options = append(options, sealwaxmcp.WithConfirmDestructive())
	case map[string]any:
		options = append(options, sealwaxmcp.WithConfirmDestructive(sealwaxmcp.Fallback(with["fallback"].(string))))
	}
	if settings.Ledger == "" {
		return options
	}
	s.ledger = s.newLedger(settings.Ledger == "failing", settings.LedgerOptions)
	return append(options, sealwaxmcp.WithLedger(s.ledger, settings.LedgerOptions.options(s.now())...))
}

// worded makes a question of these words, or fails without any.
func worded(words json.RawMessage) func(context.Context, json.RawMessage) (string, error) {
	return func(context.Context, json.RawMessage) (string, error) {
		say(map[string]any{"asked": "confirm"})
		var made *string
		must(0, json.Unmarshal(words, &made))
		if made == nil {
			return "", errors.New("the question's function fails")
		}
		return *made, nil
	}
}

func (s *stage) newSessions(settings settings) *sealwaxmcp.Sessions[json.RawMessage] {
	given := settings.Sessions
	options := with(nil, given.TTL, sealwaxmcp.SessionTTL)
	options = when(options, given.NoExpiry, sealwaxmcp.SessionNoExpiry())
	options = when(options, given.HeldByServer, sealwaxmcp.HeldByServer())
	var names struct{ Tools, Methods []string }
	if string(given.Required) == "true" {
		options = append(options, sealwaxmcp.Required())
	} else if given.Required != nil {
		must(0, json.Unmarshal(given.Required, &names))
		options = append(options, sealwaxmcp.RequiredTools(names.Tools...), sealwaxmcp.RequiredMethods(names.Methods...))
	}
	var initial sealwaxmcp.Initial[json.RawMessage]
	if given.Initial != nil {
		initial = func(context.Context, *mcp.RequestExtra) (json.RawMessage, error) {
			say(map[string]any{"asked": "begin"})
			return given.Initial, nil
		}
	}
	return must(sealwaxmcp.NewSessions(s.guard, initial, options...))
}

func wrapping(settings settings) []sealwaxmcp.TransportOption {
	given := settings.Transport
	options := with(nil, given.TTL, sealwaxmcp.TransportTTL)
	options = with(options, given.Idle, sealwaxmcp.TransportIdle)
	options = when(options, given.Required != nil && !*given.Required, sealwaxmcp.TransportOptional())
	options = when(options, given.OnLost == "serve", sealwaxmcp.TransportServeLost())
	return when(options, given.SEP1359, sealwaxmcp.SEP1359())
}

// onLines serves a connection as stdio.
func (s *stage) onLines(connection net.Conn) {
	defer connection.Close()
	// How it ends is the client's.
	_ = s.server.Run(context.Background(), must(s.guard.IO(connection, connection, s.wrapping...)))
}

// at sets the time and who asks, and what happens to the ledger.
func (s *stage) at(one told) {
	s.clock.Set(one.Now * 1000)
	s.who.Store(&one.Who)
	s.method.Store(one.Method)
	if s.ledger != nil {
		s.ledger.before(one)
	}
}

func (s *stage) principal(context.Context, *mcp.RequestExtra) (sealwax.Principal, error) {
	say(map[string]any{"asked": "principal"})
	who := *s.who.Load()
	if who == "thrower" {
		return sealwax.Principal{}, errors.New("the principal function fails")
	}
	return personOf(who), nil
}

// personOf returns the principal of its parts; of nobody the zero value, as of whoever is anonymous.
func personOf(who any) sealwax.Principal {
	parts, _ := who.(map[string]any)
	if parts["subject"] == nil {
		return sealwax.Principal{}
	}
	person := sealwax.Subject(parts["subject"].(string))
	return person.WithClient(parts["client"].(string)).WithIssuer(parts["issuer"].(string))
}

func (s *stage) revoke(whom any) bool {
	err := s.guard.Revoke(context.Background(), personOf(whom))
	if err != nil && !errors.Is(err, sealwaxmcp.ErrLedgerUnavailable) {
		panic(err)
	}
	return err == nil
}

func refused(refusal sealwaxmcp.Refusal) {
	if refusal.Message == "" {
		panic("a refusal says why")
	}
	say(map[string]any{"reported": map[string]any{"code": refusal.Code, "kind": refusal.Kind}})
}

func happened(event sealwaxmcp.TokenEvent) {
	words := []string{event.Event, event.Kind}
	if event.KeyID != "" {
		words = append(words, event.KeyID)
	}
	if event.Age >= 0 {
		words = append(words, fmt.Sprint(int(event.Age.Seconds())))
	}
	say(map[string]any{"happened": strings.Join(words, " ")})
}
