package sealwax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
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

func TestEveryKindOpensAsWhatItWasSealedAndAsNothingElse(t *testing.T) {
	alice := viewFor(t, codecFor(t), "alice")
	context := must(NewRequestContext("tools/call", "delete_note", json.RawMessage(`{"id":7}`)))
	sealers := []Sealer{
		alice.State(must(alice.MintSessionID())), alice.RequestState(context), alice.Session(), alice.Cursor("tools/list"),
		alice.HandleState("basket"), alice.Custom("report"), alice.Custom("report", ToSession("sess_x"), ToRequest(context)),
	}
	for n, sealer := range sealers {
		token := must(sealer.Seal([]byte("payload")))
		same(t, "payload", string(must(sealer.Open(token)).Payload()), "payload")
		for m, other := range sealers {
			if _, err := other.Open(token); n != m && !errors.Is(err, ErrWrongPurpose) && !errors.Is(err, ErrUnauthentic) {
				t.Errorf("%d as %d: %v", n, m, err)
			}
		}
	}
}

func TestACodecKeepsTheViewsOfItsLastCallers(t *testing.T) {
	codec := codecFor(t)
	principals := []Principal{
		Subject("alice"), Client("alice"), Subject("alice").WithIssuer("alice"), Client("alice").WithIssuer("alice"),
		Subject("alice").WithClient("alice"), {anonymous: true},
	}
	var tokens []string
	for _, principal := range principals {
		tokens = append(tokens, must(must(codec.View(principal)).Session().Seal(nil)))
	}
	for n, token := range tokens {
		for m, principal := range principals {
			_, err := must(codec.View(principal)).Session().Open(token)
			if n == m && err != nil {
				t.Error(err)
			} else if n != m {
				refuses(t, ErrPrincipalMismatch, err)
			}
		}
	}
	same(t, "view", viewFor(t, codec, "alice"), viewFor(t, codec, "alice"))
	for n := range 1000 {
		viewFor(t, codec, fmt.Sprint(n))
		if len(codec.views) > keptViews {
			t.Fatalf("expected at most %d, found %d", keptViews, len(codec.views))
		}
	}
}

func TestNobodyIsNoDefault(t *testing.T) {
	codec := codecFor(t)
	for _, principal := range []Principal{
		{}, Subject(""), Subject("alice").WithClient(""), Client("cli").WithIssuer(""), Principal{}.WithIssuer("https://idp.example.com"),
		Subject(strings.Repeat("x", 1025)), Subject("\xff"),
	} {
		_, err := codec.View(principal)
		refuses(t, ErrInvalidArgument, err)
	}
	same(t, "nobody", Principal{}.IsNobody(), true)
	same(t, "somebody", Subject("").IsNobody(), false)
	_ = must(must(codec.Anonymous()).MintSessionID())
}

func TestGoroutinesShareACodec(t *testing.T) {
	codec := codecFor(t)
	var group sync.WaitGroup
	nonces := make([]map[string]bool, 16)
	for worker := range nonces {
		nonces[worker] = map[string]bool{}
		group.Go(func() {
			for n := range 500 {
				user := fmt.Sprint("user ", (worker+n)%100)
				token := must(viewFor(t, codec, user).Cursor("tools/list").Seal([]byte(user)))
				opened := must(viewFor(t, codec, user).Cursor("tools/list").Open(token))
				same(t, "payload", string(opened.Payload()), user)
				nonces[worker][opened.TokenID()] = true
			}
		})
	}
	group.Wait()
	all := map[string]bool{}
	for _, each := range nonces {
		for nonce := range each {
			all[nonce] = true
		}
	}
	// A token's id is of its nonce: no two alike, whichever shard drew them.
	same(t, "ids", len(all), 16*500)
}

func TestWhatOpeningTells(t *testing.T) {
	sealer := viewFor(t, codecFor(t), "alice").Cursor("tools/list")
	at(t, now*1000)
	first := must(sealer.Open(must(sealer.Seal([]byte("1"), TTL(time.Minute)))))
	at(t, (now+30)*1000)
	renewed := must(sealer.Open(must(sealer.Renew(first, []byte("2"), NoExpiry()))))
	same(t, "issued at", first.IssuedAt().Unix(), now)
	same(t, "expires at", first.ExpiresAt().Unix(), now+60)
	same(t, "generation", first.Generation(), 0)
	same(t, "issued at", renewed.IssuedAt().Unix(), now+30)
	same(t, "expires at", renewed.ExpiresAt(), time.Time{})
	same(t, "generation", renewed.Generation(), 1)
	same(t, "started at", renewed.StartedAt().Unix(), now)
	same(t, "ids", first.TokenID() != renewed.TokenID() && len(first.TokenID()) == 32, true)
	same(t, "needs renewal", renewed.NeedsRenewal(), false)
}

func TestLifetimes(t *testing.T) {
	sealer := viewFor(t, codecFor(t), "alice").Session()
	at(t, now*1000)
	token := must(sealer.Seal(nil, TTL(time.Minute)))
	at(t, (now+59)*1000)
	_ = must(sealer.Open(token, MaxAge(time.Minute)))
	_, err := sealer.Open(token, MaxAge(0))
	refuses(t, ErrExpired, err)
	at(t, (now+60)*1000)
	_, err = sealer.Open(token)
	refuses(t, ErrExpired, err)
	at(t, (now-61)*1000)
	_, err = sealer.Open(token)
	refuses(t, ErrNotYetValid, err)
	for _, wrong := range [][]Lifetime{
		{TTL(0)}, {TTL(-time.Second)}, {TTL(1500 * time.Millisecond)}, {TTL(math.MaxInt64)}, {TTL((1 << 32) * time.Second)},
		{TTL(time.Second), NoExpiry()}, {{}},
	} {
		_, err := sealer.Seal(nil, wrong...)
		refuses(t, ErrInvalidArgument, err)
		_, err = sealer.view.Sessions(wrong...).Create(nil)
		refuses(t, ErrInvalidArgument, err)
	}
	for _, wrong := range [][]Limit{{MaxAge(-1)}, {MaxAge(1)}, {MaxAge(0), MaxAge(0)}} {
		_, err := sealer.Open(token, wrong...)
		refuses(t, ErrInvalidArgument, err)
	}
}

func TestLimits(t *testing.T) {
	_, err := viewFor(t, codecFor(t), "alice").Session().Seal(make([]byte, 4097))
	refuses(t, ErrTooLarge, err)
	large := must(codecFor(t, WithPayloadLimit(1<<20), WithSkew(5*time.Minute), WithSessionMaxAge(time.Hour)).Anonymous())
	payload := bytes.Repeat([]byte("x"), 1<<20)
	token := must(large.Session().Seal(payload))
	same(t, "payload", bytes.Equal(must(large.Session().Open(token)).Payload(), payload), true)
	ring := must(ParseKeyRing(keyText))
	for _, wrong := range []Option{
		WithPayloadLimit(1<<20 + 1), WithPayloadLimit(-1), WithSkew(301 * time.Second), WithSkew(-1), WithSkew(time.Millisecond),
		WithKeysInterval(0), WithKeysInterval(25 * time.Hour),
	} {
		_, err := New(ring, "a", wrong)
		refuses(t, ErrInvalidArgument, err)
	}
	_, err = New(ring, "")
	refuses(t, ErrInvalidArgument, err)
}

func TestKeysThatCannotBeUsed(t *testing.T) {
	key := must(ParseKey(keyText))
	same(t, "text", must(must(KeyFromSecret(unhex(secretHex))).Text()), keyText)
	long := make([]byte, 33)
	for n := range long {
		long[n] = byte(n)
	}
	same(t, "text", must(must(KeyFromSecret(long)).Text()), "")
	for _, wrong := range [][]byte{nil, long[:31], make([]byte, 32), []byte("correct horse battery staple, correct horse")} {
		_, err := KeyFromSecret(wrong)
		refuses(t, ErrInvalidKey, err)
	}
	_, err := ParseKey(keyText[:len(keyText)-1])
	refuses(t, ErrInvalidKey, err)
	for _, wrong := range [][]*Key{{}, {key, key}} {
		_, err := NewKeyRing(wrong...)
		refuses(t, ErrInvalidKey, err)
	}
	other := must(NewKeyRing(must(GenerateKey())))
	joined := must(JoinKeyRings(other, must(ParseKeyRing(keyText))))
	same(t, "ids", strings.Join(joined.IDs(), " "), other.IDs()[0]+" "+key.ID())
	for _, wrong := range [][]*KeyRing{{}, {other, other}} {
		_, err := JoinKeyRings(wrong...)
		refuses(t, ErrInvalidKey, err)
	}
	_, err = JoinKeyRings(other, nil)
	refuses(t, ErrInvalidArgument, err)
	_, err = ParseKeyRing("")
	refuses(t, ErrInvalidKey, err)
	if !strings.Contains(err.Error(), "SEALWAX_KEYS") {
		t.Error(err)
	}
	// A caller's bytes may change afterwards.
	secret := unhex(secretHex)
	held := must(KeyFromSecret(secret))
	clear(secret)
	same(t, "text", must(held.Text()), keyText)
}

func TestAKeyThatFollowsAnotherWantsSealingAnew(t *testing.T) {
	old, next := must(GenerateKey()), must(GenerateKey())
	session := func(keys ...*Key) Sealer {
		return viewFor(t, must(New(must(NewKeyRing(keys...)), "a")), "b").Session()
	}
	token := must(session(old, next).Seal(nil))
	before := must(session(old, next).Open(token))
	after := must(session(next, old).Open(token))
	same(t, "before", before.NeedsReseal() || before.NeedsRenewal(), false)
	same(t, "after", after.NeedsReseal() && after.NeedsRenewal(), true)
	_, err := session(next).Open(token)
	refuses(t, ErrUnknownKey, err)
	if !strings.Contains(err.Error(), old.ID()) {
		t.Error(err)
	}
}

func TestNothingSecretIsPrinted(t *testing.T) {
	key := must(ParseKey(keyText))
	ring := must(NewKeyRing(key))
	codec := must(New(ring, "a"))
	alice := viewFor(t, codec, "alice")
	opened := must(alice.Session().Open(must(alice.Session().Seal([]byte("the payload")))))
	metadata := must(alice.Sessions().Create([]byte("the payload")))
	session := must(alice.Sessions().Open(must(json.Marshal(metadata))))
	id := must(alice.VerifySessionID(session.ID()))
	secret := unhex(secretHex)
	never := append(pieces(keyText[5:], 8), secretHex, strings.ToUpper(secretHex), string(secret), fmt.Sprintf("%x", keyText),
		fmt.Sprintf("%X", keyText), fmt.Sprintf("%d", secret)[1:20], fmt.Sprintf("%d", []byte(keyText))[1:20],
		"the payload", fmt.Sprintf("%x", "the payload"), session.ID(), metadata.State)
	told := 0
	for _, holder := range []any{
		key, *key, ring, *ring, codec, *codec, alice, *alice, alice.Session(), opened, *opened, session, *session, id, *id,
		metadata, &metadata,
		struct {
			Key  *Key
			Ring KeyRing
		}{key, *ring}, []*Key{key}, map[string]Key{"key": *key}, host.KeyOf([]byte(keyText), host.Text), host.RingOf([]byte(keyText)),
	} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("it", "it", holder)
		slog.New(slog.NewTextHandler(&log, nil)).Info("it", "it", holder)
		written := []string{log.String()}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			written = append(written, fmt.Sprintf(verb, holder))
		}
		_, isSent := holder.(SessionMetadata)
		_, isSentToo := holder.(*SessionMetadata)
		if text, err := json.Marshal(holder); err == nil && !isSent && !isSentToo {
			written = append(written, string(text))
		}
		for _, text := range written {
			told += len(text)
			for _, piece := range never {
				if strings.Contains(text, piece) {
					t.Errorf("%T: %s", holder, text)
				}
			}
		}
	}
	same(t, "key", fmt.Sprintf("%v %s %#v", key, *key, ring), "Key(a8ca0d4a) Key(a8ca0d4a) KeyRing(a8ca0d4a)")
	same(t, "told", told > 1000, true)
}

func TestZeroValuesFailClosed(t *testing.T) {
	var (
		codec    Codec
		noCodec  *Codec
		view     View
		noView   *View
		sealer   Sealer
		sessions Sessions
		session  Session
		opened   Opened
		alice    = viewFor(t, codecFor(t), "alice")
	)
	fails := map[string]error{}
	note := func(what string, err error) { fails[what] = err }
	for name, given := range map[string]*Codec{"codec": &codec, "no codec": noCodec} {
		_, err := given.View(Subject("alice"))
		note(name+" view", err)
		_, err = given.Anonymous()
		note(name+" anonymous", err)
		_, err = given.SetKeys(must(ParseKeyRing(keyText)))
		note(name+" set keys", err)
		same(t, "string", given.String(), "Codec(none)")
		same(t, "close", given.Close(), nil)
	}
	for name, given := range map[string]*View{"view": &view, "no view": noView} {
		_, err := given.Session().Seal(nil)
		note(name+" seal", err)
		_, err = given.Custom("x", ToSession("y")).Open("sw1.x")
		note(name+" open", err)
		_, err = given.MintSessionID()
		note(name+" mint", err)
		_, err = given.VerifyHandle("x", "x_y")
		note(name+" verify", err)
		_, err = given.Sessions().Create(nil)
		note(name+" create", err)
		_, err = given.Sessions().Open(json.RawMessage("{}"))
		note(name+" open session", err)
		same(t, "string", given.String(), "View(none)")
	}
	_, err := sealer.Seal(nil)
	note("sealer seal", err)
	_, err = sealer.Open("sw1.x")
	note("sealer open", err)
	_, err = sessions.Create(nil)
	note("sessions create", err)
	_, err = sessions.Renew(&session, nil)
	note("sessions renew", err)
	_, err = sessions.Verify("sess_x")
	note("sessions verify", err)
	_, err = alice.Sessions().Renew(&session, nil)
	note("renew a zero session", err)
	_, err = alice.Sessions().Fork(nil)
	note("fork no session", err)
	_, err = alice.Session().Renew(&opened, nil)
	note("renew a zero opened", err)
	_, err = alice.Session().Renew(nil, nil)
	note("renew nothing", err)
	_, err = alice.RequestState(RequestContext{}).Seal(nil)
	note("no context", err)
	_, err = alice.Custom("x", ToRequest(RequestContext{})).Seal(nil)
	note("custom without context", err)
	_, err = Key{}.Text()
	note("key", err)
	for name, err := range fails {
		if !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, ring := range []*KeyRing{nil, {}} {
		_, err := New(ring, "a")
		refuses(t, ErrInvalidKey, err)
		_, err = codecFor(t).SetKeys(ring)
		refuses(t, ErrInvalidKey, err)
	}
	_, err = NewKeyRing(nil)
	refuses(t, ErrInvalidArgument, err)
	_, err = NewKeyRing(&Key{})
	refuses(t, ErrInvalidArgument, err)
}

func TestAnEmptyBindingIsNotNone(t *testing.T) {
	_, err := viewFor(t, codecFor(t), "alice").Custom("note", ToSession("")).Seal(nil)
	refuses(t, ErrInvalidArgument, err)
}

func TestTextsThatAreNotUTF8(t *testing.T) {
	codec := codecFor(t)
	alice := viewFor(t, codec, "alice")
	const bad = "\xed\xa0\x80"
	_, err := New(must(ParseKeyRing(keyText)), bad)
	refuses(t, ErrInvalidArgument, err)
	_, err = alice.Cursor(bad).Seal(nil)
	refuses(t, ErrInvalidArgument, err)
	_, err = NewRequestContext(bad, "x", nil)
	refuses(t, ErrInvalidArgument, err)
	_, err = NewRequestContext("tools/call", "x", json.RawMessage(`"`+bad+`"`))
	refuses(t, ErrInvalidArgument, err)
	_, err = NewRequestContext("tools/call", "x", json.RawMessage(`{"id":7}`), "i\x00d")
	refuses(t, ErrInvalidArgument, err)
	_, err = alice.Session().Open("sw1." + bad)
	refuses(t, ErrMalformed, err)
	_, err = alice.VerifySessionID(bad)
	refuses(t, ErrMalformed, err)
	_, err = alice.VerifyHandle("basket", bad)
	refuses(t, ErrMalformed, err)
	_, err = alice.Sessions().Open(json.RawMessage(`{"sessionId":"` + bad + `","state":"x"}`))
	refuses(t, ErrMalformed, err)
}

func TestIdentifiers(t *testing.T) {
	alice := viewFor(t, codecFor(t), "alice")
	at(t, now*1000+123)
	id, handle := must(alice.MintSessionID()), must(alice.MintHandle("basket"))
	verified := must(alice.VerifySessionID(id, MaxAge(time.Minute)))
	same(t, "equal", *verified, *must(alice.VerifySessionID(id, MaxAge(time.Minute))))
	for _, found := range []*Identifier{verified, must(alice.VerifyHandle("basket", handle, MaxAge(time.Minute)))} {
		same(t, "created at", found.CreatedAt().UnixMilli(), now*1000+123)
		same(t, "ends at", found.EndsAt().UnixMilli(), now*1000+60_123)
	}
	_, err := alice.VerifyHandle("order", handle)
	refuses(t, ErrWrongPurpose, err)
	_, err = alice.MintHandle("Basket")
	refuses(t, ErrInvalidArgument, err)
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
	_, err := sealer.SealJSON(math.NaN())
	refuses(t, ErrInvalidArgument, err)
	_, err = sealer.SealJSON(func() {})
	refuses(t, ErrInvalidArgument, err)
}

func TestNoRandomness(t *testing.T) {
	alice := viewFor(t, codecFor(t), "alice")
	e := systemEnvironment
	e.Random = func([]byte) bool { return false }
	host.SetEnvironment(&e)
	defer host.SetEnvironment(nil)
	_, err := alice.Session().Seal(nil)
	refuses(t, ErrEntropyUnavailable, err)
	_, err = alice.MintSessionID()
	refuses(t, ErrEntropyUnavailable, err)
	_, err = GenerateKey()
	refuses(t, ErrEntropyUnavailable, err)
	same(t, "is a refusal", errors.Is(err, ErrRefused), false)
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
	same(t, "cursor", must(AnswerTo(ProfileCursor, nil, "")).Error.Message, "Invalid cursor")
	_, err := AnswerTo("none", nil, "")
	refuses(t, ErrInvalidArgument, err)
}

func TestErrors(t *testing.T) {
	_, err := ParseKey("swk1_short")
	same(t, "code", errors.Is(err, ErrInvalidKey), true)
	same(t, "another", errors.Is(err, ErrExpired), false)
	same(t, "refused", errors.Is(err, ErrRefused), false)
	var told *Error
	same(t, "type", errors.As(err, &told) && told.Code == "invalid_key" && told.Message != "", true)
	same(t, "text", err.Error(), "sealwax: invalid_key: "+told.Message)
	same(t, "short", strings.Contains(err.Error(), "swk1_short"), false)
	same(t, "version", Version() != "", true)
}
