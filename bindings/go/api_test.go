package sealwax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

const (
	keyText   = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"
	secretHex = "931f5a9ec624a5521cd7d6a4c3dcd1da52995672cc9339f61f826a60951fd8fc"
	now       = 1_780_000_000
)

func codecFor(t testing.TB, options ...Option) *Codec {
	t.Helper()
	return must(New(must(ParseKeyRing(keyText)), "https://mcp.example.com", options...))
}

func viewFor(t testing.TB, codec *Codec, subject string) *View {
	t.Helper()
	return must(codec.View(Subject(subject)))
}

func refuses(t testing.TB, code Code, err error) {
	t.Helper()
	var told *Error
	if !errors.As(err, &told) || !errors.Is(err, code) || told.Code != code {
		t.Errorf("expected %s, found %v", code, err)
	}
}

// failure returns the error alone.
func failure[T any](_ T, err error) error { return err }

// allRefuse checks errors by their names.
func allRefuse(t *testing.T, code Code, errs map[string]error) {
	t.Helper()
	for name, err := range errs {
		if !errors.Is(err, code) {
			t.Errorf("%s: expected %s, found %v", name, code, err)
		}
	}
}

func TestACodecKeepsTheViewsOfItsLastCallers(t *testing.T) {
	codec := codecFor(t)
	same(t, "view", viewFor(t, codec, "alice"), viewFor(t, codec, "alice"))
	same(t, "another's", viewFor(t, codec, "alice") != must(codec.View(Client("alice"))), true)
	for n := range 1000 {
		viewFor(t, codec, fmt.Sprint(n))
		if len(codec.views) > keptViews {
			t.Fatalf("expected at most %d, found %d", keptViews, len(codec.views))
		}
	}
}

const bad = "\xed\xa0\x80"

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	codec := codecFor(t)
	alice, ring := viewFor(t, codec, "alice"), must(ParseKeyRing(keyText))
	session, call := alice.Session(), json.RawMessage(`{"id":7}`)
	token := must(session.Seal(nil))
	errs := map[string]error{
		"no audience":             failure(New(ring, "")),
		"an audience":             failure(New(ring, bad)),
		"no keys to join":         failure(JoinKeyRings(ring, nil)),
		"an issuer":               failure(codec.View(Subject("alice").WithIssuer(bad))),
		"a client":                failure(codec.View(Client(bad))),
		"claims":                  failure(PrincipalFromClaims(map[string]any{"iss": "https://idp.example.com", "sub": bad})),
		"claims that are no JSON": failure(PrincipalFromClaims(map[string]any{"iss": make(chan int)})),
		"a list":                  failure(alice.Cursor(bad).Seal(nil)),
		"the name of a custom":    failure(alice.Custom(bad).Seal(nil)),
		"a type of handles":       failure(alice.HandleState(bad).Seal(nil)),
		"a session id":            failure(alice.State(bad).Seal(nil)),
		"a method":                failure(NewRequestContext(bad, "x", nil)),
		"arguments":               failure(NewRequestContext("tools/call", "x", json.RawMessage(`"`+bad+`"`))),
		"a named argument":        failure(NewRequestContext("tools/call", "x", call, bad)),
		"a value that is no text": failure(session.SealJSON(map[string]any{"deep": []string{bad}})),
		"a key of one":            failure(session.SealJSON(map[string]int{bad: 1})),
		"a value that is no JSON": failure(session.SealJSON(math.NaN())),
		"a function":              failure(session.SealJSON(func() {})),
		"a profile of nobody's":   failure(AnswerTo("none", nil, "")),
		"a negative age":          failure(session.Open(token, MaxAge(-1))),
		"an age of a nanosecond":  failure(session.Open(token, MaxAge(1))),
		"two ages":                failure(session.Open(token, MaxAge(0), MaxAge(0))),
	}
	for n, wrong := range []Principal{
		{}, Subject(""), Subject("alice").WithClient(""), Client("cli").WithIssuer(""), Principal{}.WithIssuer("https://idp.example.com"),
		Subject(strings.Repeat("x", 1025)), Subject(bad),
	} {
		errs[fmt.Sprint("principal ", n)] = failure(codec.View(wrong))
	}
	for n, wrong := range [][]Lifetime{
		{TTL(0)}, {TTL(-time.Second)}, {TTL(1500 * time.Millisecond)}, {TTL(math.MaxInt64)}, {TTL((1 << 32) * time.Second)},
		{TTL(time.Second), NoExpiry()}, {{}},
	} {
		errs[fmt.Sprint("lifetime ", n)] = failure(session.Seal(nil, wrong...))
		errs[fmt.Sprint("lifetime of a session ", n)] = failure(alice.Sessions(wrong...).Create(nil))
	}
	for n, wrong := range []Option{
		WithPayloadLimit(1<<20 + 1), WithPayloadLimit(-1), WithClockTolerance(301 * time.Second), WithClockTolerance(-1), WithClockTolerance(time.Millisecond),
		WithKeysInterval(0), WithKeysInterval(25 * time.Hour),
	} {
		errs[fmt.Sprint("option ", n)] = failure(New(ring, "a", wrong))
	}
	allRefuse(t, ErrInvalidArgument, errs)
	// What a client sends is another thing.
	allRefuse(t, ErrMalformed, map[string]error{
		"a token":    failure(session.Open("sw1." + bad)),
		"an id":      failure(alice.VerifySessionID(bad)),
		"a handle":   failure(alice.VerifyHandle("basket", bad)),
		"a session":  failure(alice.Sessions().Open(json.RawMessage(`{"sessionId":"` + bad + `","state":"x"}`))),
		"an inquiry": failure(Inspect(bad)),
	})
	// What encoding/json does not replace is no mistake.
	written := json.RawMessage(`["\ufffd\ufffd","\\ufffd"]`)
	type holding struct {
		Text string
		Raw  *json.RawMessage
		Held any
	}
	type base struct{ N int }
	for _, value := range []any{
		struct {
			base
			Note string
		}{base{1}, `\ufffd`},
		"\ufffd", `\ufffd`, `\\ufffd`, "Jos\u00e9", []byte("\xe8"), written, &written, map[string]json.RawMessage{"x": written},
		[]any{written, holding{Raw: &written, Held: &holding{Held: [1]any{written}}}},
	} {
		must(session.SealJSON(value))
	}
	// What it replaces beside that is lost.
	around := &whole{Raw: written}
	around.Next = around
	for _, value := range []any{
		holding{Text: bad, Held: written}, []any{written, map[string]any{bad: written}}, hides{written, bad}, &hides{written, bad},
		struct {
			Left json.RawMessage `json:"-"`
			Text string
		}{written, bad},
		map[string]any{"held": written, "cycle": newCycle()}, omits{around, "\xff"}, map[member]int{"\xff": 1},
		struct {
			Written
			Raw  int
			Text string
		}{Written{written}, 7, "\xff"},
		struct {
			A    int `json:"Raw"`
			Raw  json.RawMessage
			Text string
		}{7, written, "\xff"},
	} {
		refuses(t, ErrInvalidArgument, failure(session.SealJSON(value)))
	}
}

// hides writes but a part of what it has.
type hides struct {
	Left json.RawMessage
	Text string
}

func (h *hides) MarshalJSON() ([]byte, error) { return json.Marshal(h.Text) }

// member is written as it is where it names a member.
type member string

func (member) MarshalText() ([]byte, error) { return []byte("x"), nil }

// Written has a member that one of another struct hides.
type Written struct{ Raw json.RawMessage }

// omits writes but its text.
type omits struct {
	Left *whole `json:",omitzero"`
	Text string
}

// whole holds itself.
type whole struct {
	Raw  json.RawMessage
	Next *whole
}

func (*whole) IsZero() bool { return true }

// cycle writes itself as text, and holds itself.
type cycle struct{ Next *cycle }

func newCycle() *cycle {
	c := &cycle{}
	c.Next = c
	return c
}

func (*cycle) MarshalText() ([]byte, error) { return []byte("\xff\xff\xff"), nil }

func TestLimits(t *testing.T) {
	refuses(t, ErrTooLarge, failure(viewFor(t, codecFor(t), "alice").Session().Seal(make([]byte, 4097))))
	large := must(codecFor(t, WithPayloadLimit(1<<20), WithClockTolerance(5*time.Minute), WithSessionMaxAge(time.Hour)).Anonymous())
	payload := bytes.Repeat([]byte("x"), 1<<20)
	token := must(large.Session().Seal(payload))
	same(t, "payload", bytes.Equal(must(large.Session().Open(token)).Payload(), payload), true)
}

func TestKeysThatCannotBeUsed(t *testing.T) {
	key, ring := must(ParseKey(keyText)), must(ParseKeyRing(keyText))
	same(t, "text", must(must(KeyFromSecret(append(unhex(secretHex), 7))).Text()), "")
	other := must(NewKeyRing(must(GenerateKey())))
	same(t, "ids", strings.Join(must(JoinKeyRings(other, ring)).IDs(), " "), other.IDs()[0]+" "+key.ID())
	allRefuse(t, ErrInvalidKey, map[string]error{
		"no secret":    failure(KeyFromSecret(nil)),
		"no keys":      failure(NewKeyRing()),
		"one twice":    failure(NewKeyRing(key, key)),
		"no rings":     failure(JoinKeyRings()),
		"a ring twice": failure(JoinKeyRings(other, other)),
	})
	// A caller's bytes may change afterwards.
	secret := unhex(secretHex)
	held := must(KeyFromSecret(secret))
	clear(secret)
	same(t, "text", must(held.Text()), keyText)
}

func TestZeroValuesFailClosed(t *testing.T) {
	same(t, "nobody", Principal{}.IsNobody() && !Subject("").IsNobody(), true)
	alice := viewFor(t, codecFor(t), "alice")
	fails := map[string]error{
		"sealer seal":            failure(Sealer{}.Seal(nil)),
		"sealer open":            failure(Sealer{}.Open("sw1.x")),
		"sessions create":        failure(Sessions{}.Create(nil)),
		"sessions renew":         failure(Sessions{}.Renew(&Session{}, nil)),
		"sessions verify":        failure(Sessions{}.Verify("sess_x")),
		"renew a zero session":   failure(alice.Sessions().Renew(&Session{}, nil)),
		"fork no session":        failure(alice.Sessions().Fork(nil)),
		"renew a zero opened":    failure(alice.Session().Renew(&Opened{}, nil)),
		"renew nothing":          failure(alice.Session().Renew(nil, nil)),
		"no context":             failure(alice.RequestState(RequestContext{}).Seal(nil)),
		"custom without context": failure(alice.Custom("x", ToRequest(RequestContext{})).Seal(nil)),
		"key":                    failure(Key{}.Text()),
		"ring of no key":         failure(NewKeyRing(nil)),
		"ring of a zero key":     failure(NewKeyRing(&Key{})),
	}
	for name, given := range map[string]*Codec{"codec": {}, "no codec": nil} {
		fails[name+" view"] = failure(given.View(Subject("alice")))
		fails[name+" anonymous"] = failure(given.Anonymous())
		fails[name+" set keys"] = failure(given.SetKeys(must(ParseKeyRing(keyText))))
		same(t, "string", given.String(), "Codec(none)")
		same(t, "close", given.Close(), nil)
	}
	for name, given := range map[string]*View{"view": {}, "no view": nil} {
		fails[name+" seal"] = failure(given.Session().Seal(nil))
		fails[name+" open"] = failure(given.Custom("x", ToSession("y")).Open("sw1.x"))
		fails[name+" mint"] = failure(given.MintSessionID())
		fails[name+" verify"] = failure(given.VerifyHandle("x", "x_y"))
		fails[name+" create"] = failure(given.Sessions().Create(nil))
		fails[name+" open session"] = failure(given.Sessions().Open(json.RawMessage("{}")))
		same(t, "string", given.String(), "View(none)")
	}
	allRefuse(t, ErrInvalidArgument, fails)
	for _, ring := range []*KeyRing{nil, {}} {
		refuses(t, ErrInvalidKey, failure(New(ring, "a")))
		refuses(t, ErrInvalidKey, failure(codecFor(t).SetKeys(ring)))
	}
}

func TestJSONInAndOut(t *testing.T) {
	sealer := viewFor(t, codecFor(t), "alice").Session()
	type page struct{ Page int }
	var found page
	opened := must(sealer.Open(must(sealer.SealJSON(page{2}))))
	if err := opened.JSON(&found); err != nil || found.Page != 2 {
		t.Error(found, err)
	}
	for _, payload := range []string{"", "{", "NaN", "\xff", `"secret"`} {
		opened := must(sealer.Open(must(sealer.Seal([]byte(payload)))))
		err := opened.JSON(&found)
		refuses(t, ErrMalformed, err)
		same(t, "is a refusal", errors.Is(err, ErrRefused), true)
		if strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}

func TestAnswersTellARefusalFromAFailure(t *testing.T) {
	_, refused := viewFor(t, codecFor(t), "alice").Session().Open("sw1.")
	found := must(AnswerTo(ProfileDataLayer, refused, "sess_1"))
	same(t, "data", string(found.Error.Data), `{"sessionId":"sess_1"}`)
	text := func(a Answer) string { return string(must(json.Marshal(a))) }
	same(t, "without an error", text(must(AnswerTo(ProfileDataLayer, nil, "sess_1"))), text(found))
	same(t, "by its code", text(must(AnswerTo(ProfileDataLayer, ErrExpired, "sess_1"))), text(found))
	same(t, "wrapped", text(must(AnswerTo(ProfileDataLayer, fmt.Errorf("it: %w", refused), "sess_1"))), text(found))
	same(t, "status", must(AnswerTo(ProfileMCPSessionID, refused, "")).HTTPStatus, 404)
	for _, err := range []error{errors.New("a server's own"), ErrInternalError, ErrEntropyUnavailable, Code("unheard of"), ErrInvalidArgument} {
		same(t, err.Error(), must(AnswerTo(ProfileMCPSessionID, err, "")).HTTPStatus, 500)
	}
	same(t, "data", must(AnswerTo(ProfileDataLayer, nil, "\xff")).Error.Data == nil, true)
}

func TestErrors(t *testing.T) {
	err := failure(ParseKey("swk1_short"))
	var told *Error
	same(t, "type", errors.As(err, &told) && told.Code == "invalid_key" && told.Message != "", true)
	same(t, "text", err.Error(), "sealwax: invalid_key: "+told.Message)
	same(t, "version", Version() != "", true)
}

const day = 86_400

func sent(metadata SessionMetadata) json.RawMessage { return must(json.Marshal(metadata)) }

// Which session is good when is shown by the core, and what is renewed and forked by tests/driver, in every language.
func TestASessionTellsOfItself(t *testing.T) {
	view := viewFor(t, codecFor(t), "alice")
	sessions := view.Sessions()
	at(t, now*1000)
	created := must(sessions.Create([]byte("1")))
	same(t, "expires at", created.ExpiresAt, "2026-05-29T20:26:40Z")
	same(t, "expires at", must(view.Sessions(TTL(time.Minute)).Create(nil)).ExpiresAt, "2026-05-28T20:27:40Z")
	same(t, "expires at", must(view.Sessions(NoExpiry()).Create(nil)).ExpiresAt, "2026-06-27T20:26:40Z")
	verified := must(sessions.Verify(created.SessionID))
	same(t, "text", verified.Text(), created.SessionID)
	same(t, "age", verified.EndsAt().Sub(verified.CreatedAt()), 30*day*time.Second)
	at(t, (now+day-1)*1000)
	opened := must(sessions.Open(sent(created)))
	again := must(sessions.Open(sent(must(sessions.Renew(opened, []byte("2"))))))
	for expected, s := range map[string]*Session{"1 0 true": opened, "2 1 false": again} {
		same(t, "session", fmt.Sprintf("%s %d %v", s.Payload(), s.Generation(), s.NeedsRenewal()), expected)
		same(t, "id", s.ID(), created.SessionID)
		same(t, "started at", s.StartedAt().Unix(), now)
	}
}
