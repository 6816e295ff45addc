package sealwaxmcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/ledger"
)

const legacy = "2025-11-25"

// found is the outcome of an event.
type found struct {
	event map[string]any
	// sent is the message, for what is echoed.
	sent      map[string]any
	asked     []string
	anybodys  []bool
	commands  []string
	happened  []string
	wrong     error
	delivered map[string]any
	did       []any
	answered  map[string]any
	reported  []any
}

func newFound(event, sent map[string]any) *found {
	return &found{event: event, sent: sent, asked: []string{}, anybodys: []bool{}, commands: []string{}, happened: []string{}, reported: []any{}}
}

// playing is a server of the SDK with the settings of one transcript. One event happens at a time, so nothing is locked but by
// the channels between the client and the server.
type playing struct {
	*testing.T
	world    *world
	found    *found
	guard    *Guard
	server   *mcp.Server
	sessions *Sessions[any]
	settings map[string]any
	memory   *ledger.Memory
	lost     map[string]int64
	gone     map[string]bool
	ways     map[string]*way
	handlers map[bool]http.Handler
	depth    int
	ctx      context.Context
}

// way is a stream of lines to a server and back.
type way struct {
	writer io.Writer
	lines  chan map[string]any
}

func play(t *testing.T, one transcript) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := &playing{
		T: t, world: newWorld(t), settings: one.Settings, lost: map[string]int64{}, gone: map[string]bool{},
		ways: map[string]*way{}, handlers: map[bool]http.Handler{}, ctx: ctx,
	}
	p.found = newFound(map[string]any{}, nil)
	p.guard = p.newGuard(one)
	p.server = p.newServer()
	if err := p.guard.Protect(p.server); err != nil {
		t.Fatal(err)
	}
	if err := p.play(one.Events); err != nil {
		t.Error(err)
	}
}

func (p *playing) newGuard(one transcript) *Guard {
	people := map[string]bool{}
	for _, event := range one.Events {
		people[text(event["as"])] = true
	}
	var who Principals = PrincipalFunc(p.principal)
	if people["anonymous"] && len(people) == 1 {
		who = Anonymous
	}
	options := []Option{OnRefused(p.refused), OnEvent(p.happened), WithLogger(quiet)}
	if ttl := p.settings["requestStateTtl"]; ttl != nil {
		options = append(options, WithRequestStateTTL(span(ttl)))
	}
	for target, names := range object(p.settings["only"]) {
		options = append(options, WithOnly(target, texts(names)...))
	}
	if p.settings["accept"] != nil {
		options = append(options, WithAccept(p))
	}
	if p.settings["ledger"] != nil {
		options = append(options, p.withLedger())
	}
	guard := must(New(p.world.codec(map[string]any{"key": "both"}), who, options...))
	settings := object(p.settings["sessions"])
	if settings == nil {
		return guard
	}
	var with []SessionsOption
	if ttl := settings["ttl"]; ttl != nil {
		with = append(with, SessionTTL(span(ttl)))
	}
	if settings["noExpiry"] == true {
		with = append(with, SessionNoExpiry())
	}
	if required := settings["required"]; required == true {
		with = append(with, Required())
	} else if required != nil {
		with = append(with, RequiredTools(texts(object(required)["tools"])...), RequiredMethods(texts(object(required)["methods"])...))
	}
	var initial Initial[any] = func(context.Context, *mcp.RequestExtra) (any, error) {
		p.found.asked = append(p.found.asked, "begin")
		return settings["initial"], nil
	}
	if settings["heldByServer"] == true {
		with, initial = append(with, HeldByServer()), nil
	}
	p.sessions = must(NewSessions(guard, initial, with...))
	return guard
}

func texts(value any) []string {
	var found []string
	for _, one := range list(value) {
		found = append(found, text(one))
	}
	return found
}

func (p *playing) withLedger() Option {
	options := object(p.settings["ledgerOptions"])
	since := time.Hour
	if options["since"] != nil {
		since = span(options["since"])
	}
	p.world.ago(since, func() { p.memory = must(ledger.NewMemory(ledger.Clock(p.world.clock.Now))) })
	var with []LedgerOption
	if tolerance := options["clockTolerance"]; tolerance != nil {
		with = append(with, ClockTolerance(span(tolerance)))
	}
	if age := options["acceptIssuedSince"]; age != nil {
		with = append(with, AcceptIssuedSince(p.world.clock.Now().Add(-span(age))))
	}
	if options["reusableRequestState"] == true {
		with = append(with, ReusableRequestState())
	}
	return WithLedger(p, with...)
}

// What the guard asks.

func (p *playing) principal(context.Context, *mcp.RequestExtra) (Principal, error) {
	p.found.asked = append(p.found.asked, "principal")
	who := text(p.found.event["as"])
	if who == "thrower" {
		return Principal{}, errors.New(who)
	}
	person, _ := personOf(who)
	return person, nil
}

func (p *playing) refused(refusal Refusal) {
	p.found.reported = append(p.found.reported, map[string]any{"code": refusal.Code, "kind": refusal.Kind})
}

func (p *playing) happened(event Event) {
	told := event.Event + " " + event.Kind
	for name, key := range file().Keys {
		if event.KeyID != "" && must(parseKey(key)).ID() == event.KeyID {
			told += " " + name
		}
	}
	if event.Age >= 0 {
		told += fmt.Sprintf(" %d", int(event.Age.Seconds()))
	}
	p.found.happened = append(p.found.happened, told)
}

func (p *playing) Accept(_ context.Context, presented Presented) (bool, error) {
	p.found.asked = append(p.found.asked, "accept "+presented.Kind)
	p.found.anybodys = append(p.found.anybodys, presented.Principal == Principal{} && p.guard.principals != Anonymous)
	id := presented.Kind + presented.ID
	switch p.settings["accept"] {
	case "fails":
		return false, errors.New("down")
	case "no":
		return false, nil
	case "once":
		if p.gone[id] {
			return false, nil
		}
		// A cursor may be used as often as anybody likes.
		p.gone[id] = presented.Kind == "request-state"
		return true, nil
	}
	return !p.gone[id], nil
}

func (p *playing) Ended(_ context.Context, presented Presented) error {
	p.found.asked = append(p.found.asked, "end "+presented.Kind)
	if p.settings["accept"] == "fails" {
		return errors.New("down")
	}
	p.gone[presented.Kind+presented.ID] = true
	return nil
}

// Run is the ledger in memory, whose answers may be lost.
func (p *playing) Run(ctx context.Context, command ledger.Command) ([]string, error) {
	// When it is opened is the SDK's.
	if command.Script != "open" {
		p.found.commands = append(p.found.commands, command.Script)
		if p.settings["ledger"] == "failing" {
			return nil, errors.New("the store is down")
		}
	}
	reply, err := p.memory.Run(ctx, command)
	if p.lost[command.Script] > 0 {
		p.lost[command.Script]--
		return nil, errors.New("the answer is lost")
	}
	return reply, err
}

func (p *playing) Local() bool { return object(p.settings["ledgerOptions"])["local"] != false }

// What a client does.

// play plays events, each held to what it says.
func (p *playing) play(events []map[string]any) error {
	for at, event := range events {
		outer := p.found
		found, err := p.happen(event)
		p.found = outer
		if err == nil {
			err = p.world.compare(event, found)
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", at, err)
		}
	}
	return nil
}

func (p *playing) happen(event map[string]any) (*found, error) {
	p.world.clock.Advance(span(event["after"]))
	if event["forgets"] == true {
		p.memory = must(ledger.NewMemory(ledger.Clock(p.world.clock.Now)))
	}
	for script, times := range object(event["lost"]) {
		p.lost[script] += number(times)
	}
	message := object(p.world.resolved(event["message"]))
	found := newFound(event, message)
	p.found = found
	if message != nil && message["result"] == nil && event["notification"] != true && message["id"] == nil {
		message["id"] = json.Number("1")
	}
	answered, err := p.answered(event, message)
	found.answered = answered
	return found, err
}

func (p *playing) answered(event, message map[string]any) (map[string]any, error) {
	switch {
	case event["via"] == "operator":
		person, _ := personOf(text(event["revoke"]))
		err := p.guard.Revoke(p.ctx, person)
		if err != nil && !errors.Is(err, ErrAcceptUnavailable) {
			return nil, err
		}
		return map[string]any{"done": err == nil}, nil
	case event["via"] == "http":
		return p.overHTTP(event, message)
	case event["via"] == "stdio":
		return p.overStdio(event, message)
	case event["header"] != nil:
		answered, err := p.overHTTP(event, message)
		return object(answered["message"]), err
	}
	return p.byStream(event, message)
}

// framed returns a message as it is on the wire.
func framed(message map[string]any, modern bool) map[string]any {
	made := maps.Clone(message)
	made["jsonrpc"] = "2.0"
	if modern {
		params := maps.Clone(object(message["params"]))
		if params == nil {
			params = map[string]any{}
		}
		meta := maps.Clone(object(params["_meta"]))
		if meta == nil {
			meta = map[string]any{}
		}
		meta[mcp.MetaKeyProtocolVersion], meta[mcp.MetaKeyClientCapabilities] = "2026-07-28", map[string]any{}
		params["_meta"], made["params"] = meta, params
	}
	return made
}

func (p *playing) overHTTP(event, message map[string]any) (map[string]any, error) {
	isModern, method := event["era"] == "modern", "POST"
	if event["http"] != nil {
		method = text(event["http"])
	}
	var body io.Reader
	if message != nil {
		body = bytes.NewReader(jsonOf(framed(message, isModern)))
	}
	request := httptest.NewRequestWithContext(p.ctx, method, "/mcp", body)
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Content-Type", "application/json")
	for name, value := range object(p.world.resolved(event["headers"])) {
		request.Header.Set(name, text(value))
	}
	if event["header"] != nil {
		request.Header.Set(sessionHeader, text(p.world.resolved(event["header"])))
		request.Header.Set(versionHeader, legacy)
	}
	if isModern {
		request.Header.Set(versionHeader, modern)
		request.Header.Set("Mcp-Method", text(message["method"]))
		request.Header.Set("Mcp-Name", text(object(message["params"])["name"]))
	}
	handler, err := p.handler(event["via"] == "http")
	if err != nil {
		return nil, err
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	headers := map[string]any{}
	for name := range recorder.Header() {
		headers[strings.ToLower(name)] = recorder.Header().Get(name)
	}
	answered := map[string]any{"status": recorder.Code, "headers": headers}
	if told := lastMessage(recorder); told != nil {
		answered["message"] = told
	}
	return answered, nil
}

func lastMessage(recorder *httptest.ResponseRecorder) map[string]any {
	var last map[string]any
	for line := range bytes.Lines(recorder.Body.Bytes()) {
		line = bytes.TrimPrefix(line, []byte("data: "))
		if value, err := decoded(line); err == nil && object(value) != nil {
			last = told(object(value))
		}
	}
	return last
}

func (p *playing) handler(wrapped bool) (http.Handler, error) {
	if made := p.handlers[wrapped]; made != nil {
		return made, nil
	}
	options := &mcp.StreamableHTTPOptions{Stateless: true}
	var handler http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return p.server }, options)
	if wrapped {
		var err error
		if handler, err = p.guard.HTTP(handler, transportOptions(object(p.settings["transport"]))...); err != nil {
			return nil, err
		}
	}
	p.handlers[wrapped] = handler
	return handler, nil
}

func transportOptions(settings map[string]any) []TransportOption {
	var options []TransportOption
	if settings["required"] == false {
		options = append(options, TransportOptional())
	}
	if ttl := settings["ttl"]; ttl != nil {
		options = append(options, TransportTTL(span(ttl)))
	}
	if idle := settings["idle"]; idle != nil {
		options = append(options, TransportIdle(span(idle)))
	}
	if settings["sep1359"] == true {
		options = append(options, SEP1359())
	}
	return options
}

func (p *playing) byStream(event, message map[string]any) (map[string]any, error) {
	// The SDK knows no ping in the newest revision.
	isModern := event["era"] == "modern" && message["method"] != "ping"
	if message["method"] == "notifications/demo" {
		// The SDK has no notifications of an author's own, but this one of the client's reaches the author.
		message = maps.Clone(message)
		message["method"] = "notifications/progress"
	}
	// What happens during a request has a stream of its own.
	name := fmt.Sprint(isModern, p.depth)
	if p.ways[name] == nil {
		made, err := p.begun(isModern)
		if err != nil {
			return nil, err
		}
		p.ways[name] = made
	}
	way := p.ways[name]
	// Before the handler may run.
	p.depth++
	defer func() { p.depth-- }()
	way.send(framed(message, isModern))
	if message["id"] == nil {
		// An answer to what comes later tells that the notification was served.
		return nil, way.settle(isModern)
	}
	return way.hear()
}

// connected returns a stream to the server over a transport.
func (p *playing) connected(transport func(io.Reader, io.Writer) mcp.Transport) (*way, error) {
	toServer, writer := io.Pipe()
	reader, fromServer := io.Pipe()
	if _, err := p.server.Connect(p.ctx, transport(toServer, fromServer), nil); err != nil {
		return nil, err
	}
	made := &way{writer, make(chan map[string]any, 16)}
	go func() {
		lines := bufio.NewReader(reader)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				close(made.lines)
				return
			}
			value, _ := decoded(line)
			made.lines <- object(value)
		}
	}()
	context.AfterFunc(p.ctx, func() { _ = writer.Close(); _ = reader.Close() })
	return made, nil
}

func (p *playing) begun(isModern bool) (*way, error) {
	made, err := p.connected(func(reader io.Reader, writer io.Writer) mcp.Transport {
		return &mcp.IOTransport{Reader: io.NopCloser(reader), Writer: nopCloser{writer}}
	})
	if err != nil || isModern {
		return made, err
	}
	outer := p.found
	p.found = newFound(map[string]any{"as": "alice"}, nil)
	defer func() { p.found = outer }()
	made.send(framed(map[string]any{"id": 0, "method": "initialize", "params": map[string]any{
		"protocolVersion": legacy, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "client", "version": "1"},
	}}, false))
	if _, err := made.hear(); err != nil {
		return nil, err
	}
	made.send(framed(map[string]any{"method": "notifications/initialized"}, false))
	return made, made.settle(false)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (p *playing) overStdio(event, message map[string]any) (map[string]any, error) {
	if p.ways["stdio"] == nil {
		options := transportOptions(object(p.settings["transport"]))
		made, err := p.connected(func(reader io.Reader, writer io.Writer) mcp.Transport {
			return must(p.guard.IO(reader, writer, options...))
		})
		if err != nil {
			return nil, err
		}
		p.ways["stdio"] = made
	}
	way := p.ways["stdio"]
	way.send(framed(message, event["era"] == "modern"))
	if event["answered"] == nil {
		return nil, way.settle(false)
	}
	return way.hear()
}

func (w *way) send(message map[string]any) { _, _ = w.writer.Write(append(jsonOf(message), '\n')) }

func (w *way) hear() (map[string]any, error) {
	select {
	case message, ok := <-w.lines:
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		return told(message), nil
	case <-time.After(time.Minute):
		return nil, errors.New("no answer")
	}
}

// settle waits until what was sent before has been served: lines are served in their order, and this one is answered by the SDK
// itself. It fails if something else is heard first.
func (w *way) settle(isModern bool) error {
	w.send(framed(map[string]any{"id": "settle", "method": "nobody/knows"}, isModern))
	message, ok := <-w.lines
	switch {
	case !ok:
		return io.ErrUnexpectedEOF
	case message["id"] != "settle":
		return fmt.Errorf("heard %s", describe(message))
	}
	return nil
}

// told returns what a message says, without what the SDK says of the server in each.
func told(message map[string]any) map[string]any {
	told := map[string]any{}
	for _, name := range []string{"result", "error"} {
		if member, ok := message[name]; ok {
			told[name] = member
		}
	}
	if result := object(told["result"]); result != nil {
		meta := object(result["_meta"])
		delete(meta, mcp.MetaKeyServerInfo)
		if len(meta) == 0 {
			delete(result, "_meta")
		}
	}
	return told
}

func TestTranscripts(t *testing.T) {
	played := 0
	for _, one := range file().Transcripts {
		if _, left := one.Not["go"]; left {
			continue
		}
		played++
		t.Run(one.Name, func(t *testing.T) { play(t, one) })
	}
	if played < 300 {
		t.Errorf("played %d transcripts", played)
	}
}
