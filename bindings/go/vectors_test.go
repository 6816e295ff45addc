package sealwax

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
)

// repository is the folder with the tests of every language. What is published has only this package.
const repository = "../../"

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(repository + path)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip(path + " is not here")
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type vector struct {
	ID, Secret, Text, KID, From, Audience, Kind, Label, Context, Payload, Nonce, Token, ULID, Type, Handle, What string

	Key                       int
	Ring                      json.RawMessage
	Variables                 map[string]string
	Keys                      []string
	Error                     Code
	Principal                 principalOfVector
	TTL, Age, Now             int64
	Generation                uint32
	Method, Target, Arguments *string
	Expect                    *vector

	IsFile      bool   `json:"is_file"`
	SessionID   string `json:"session_id"`
	IssuedAt    int64  `json:"issued_at"`
	TokenID     string `json:"token_id"`
	IssuedAtMs  int64  `json:"issued_at_ms"`
	NeedsReseal bool   `json:"needs_reseal"`
	MaxAge      *int64 `json:"max_age"`
	NowMs       *int64 `json:"now_ms"`
}

type keyVector struct{ Secret, Text, KID string }

type principalOfVector struct {
	Issuer, Client, Subject string
	Anonymous               bool
}

type vectorFile struct {
	Keys []keyVector

	Derived, Environments, Sealed, Handles, Accept, Reject []vector

	KeyRings             []vector `json:"key_rings"`
	SessionIDs           []vector `json:"session_ids"`
	RequestContexts      []vector `json:"request_contexts"`
	RequestContextReject []vector `json:"request_context_reject"`
}

// each runs a test for each vector of a section, in both files.
func each[V any](t *testing.T, section func(*vectorFile) []V, test func(t *testing.T, file *vectorFile, v V)) {
	total := 0
	for _, name := range []string{"v1.json", "more.json"} {
		file := new(vectorFile)
		read(t, filepath.Join("tests/vectors", name), file)
		for n, v := range section(file) {
			total++
			id := strconv.Itoa(n)
			if v, ok := any(v).(vector); ok && v.ID != "" {
				id = v.ID
			}
			t.Run(name+"/"+id, func(t *testing.T) { test(t, file, v) })
		}
	}
	if total == 0 {
		t.Error("expected vectors, found none")
	}
}

// must returns a value that there is.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func unhex(text string) []byte { return must(hex.DecodeString(text)) }

func same[T comparable](t testing.TB, what string, found, expected T) {
	t.Helper()
	if found != expected {
		t.Errorf("%s: expected %v, found %v", what, expected, found)
	}
}

// viewOf returns the view that a vector asks for: made with one key, or opened with a ring.
func viewOf(t *testing.T, file *vectorFile, v vector) (*View, error) {
	t.Helper()
	places := []int{v.Key}
	if v.Ring != nil {
		places = nil
		if err := json.Unmarshal(v.Ring, &places); err != nil {
			t.Fatal(err)
		}
	}
	var texts []string
	for _, place := range places {
		texts = append(texts, file.Keys[place].Text)
	}
	ring := must(ParseKeyRing(strings.Join(texts, ",")))
	codec, err := New(ring, v.Audience)
	if err != nil {
		return nil, err
	}
	if v.Principal.Anonymous {
		return codec.Anonymous()
	}
	optional := func(text string) part { return part{text, text != ""} }
	return codec.View(Principal{
		issuer: optional(v.Principal.Issuer), client: optional(v.Principal.Client), subject: optional(v.Principal.Subject),
	})
}

var kinds = map[string]int32{
	"state": kindState, "request-state": kindRequestState, "session": kindSession, "cursor": kindCursor,
	"handle-state": kindHandleState, "custom": kindCustom,
}

// sealerOf returns the sealer of any kind, with any fields: a typed sealer has no way to ask for some.
func sealerOf(t *testing.T, file *vectorFile, v vector) (Sealer, error) {
	t.Helper()
	kind, ok := kinds[v.Kind]
	if !ok {
		t.Fatalf("kind: %s", v.Kind)
	}
	purpose := host.Purpose{Kind: kind, Label: &v.Label}
	if v.SessionID != "" {
		purpose.SessionID = &v.SessionID
	}
	if v.Context != "" {
		purpose.Context = unhex(v.Context)
	}
	view, err := viewOf(t, file, v)
	return view.sealer(purpose, nil), err
}

func codeOf(err error) (code Code) {
	_ = errors.As(err, &code)
	return code
}

// at stops the clock, and gives these bytes as randomness, until the test ends.
func at(t testing.TB, nowMs int64, random ...byte) {
	t.Helper()
	now := nowMs * int64(time.Millisecond)
	e := systemEnvironment
	e.Now = func() int64 { return now }
	if random != nil {
		e.Random = func(b []byte) bool {
			if len(b) != len(random) {
				t.Errorf("random: expected to be asked for %d bytes, found %d", len(random), len(b))
				return false
			}
			copy(b, random)
			// The core mixes the time into what it draws: this takes it out again.
			for n := 0; n < len(b) && n < 8; n++ {
				b[n] ^= byte(now >> (8 * n))
			}
			return true
		}
	}
	host.SetEnvironment(&e)
	t.Cleanup(func() { host.SetEnvironment(nil) })
}

var systemEnvironment = host.Environment{
	Now:    func() int64 { return time.Now().UnixNano() },
	Random: func(b []byte) bool { copy(b, bytes.Repeat([]byte{1}, len(b))); return true },
}

func TestKeys(t *testing.T) {
	each(t, func(f *vectorFile) []keyVector { return f.Keys }, func(t *testing.T, _ *vectorFile, v keyVector) {
		key := must(KeyFromSecret(unhex(v.Secret)))
		same(t, "text", must(key.Text()), v.Text)
		same(t, "id", key.ID(), v.KID)
		same(t, "id", must(ParseKey(v.Text)).ID(), v.KID)
	})
}

func TestKeyRings(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return f.KeyRings }, func(t *testing.T, _ *vectorFile, v vector) {
		var text string
		if err := json.Unmarshal(v.Ring, &text); err != nil {
			t.Fatal(err)
		}
		ring, err := ParseKeyRing(text)
		same(t, "error", codeOf(err), v.Error)
		if err == nil {
			same(t, "ids", strings.Join(ring.IDs(), " "), strings.Join(v.Keys, " "))
		}
	})
}

func TestDerivedKeys(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return f.Derived }, func(t *testing.T, _ *vectorFile, v vector) {
		key, err := DeriveKey(v.From)
		same(t, "error", codeOf(err), v.Error)
		if err == nil {
			same(t, "id", key.ID(), v.KID)
			same(t, "text", must(key.Text()), v.Text)
		}
	})
}

func TestEnvironments(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return f.Environments }, func(t *testing.T, _ *vectorFile, v vector) {
		for _, name := range []string{"KEYS", "KEYS_FILE", "SECRET", "SECRET_FALLBACKS"} {
			t.Setenv("SEALWAX_"+name, v.Variables["SEALWAX_"+name])
		}
		ring, path, err := keysOfEnv()
		same(t, "error", codeOf(err), v.Error)
		same(t, "a file", path != "", v.IsFile)
		if v.Keys != nil {
			same(t, "ids", strings.Join(ring.IDs(), " "), strings.Join(v.Keys, " "))
		}
	})
}

func TestSealedTokensComeOutTheSame(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return f.Sealed }, func(t *testing.T, file *vectorFile, v vector) {
		sealer := must(sealerOf(t, file, v))
		payload := unhex(v.Payload)
		lifetime := NoExpiry()
		if v.TTL != 0 {
			lifetime = TTL(time.Duration(v.TTL) * time.Second)
		}
		at(t, v.IssuedAt*1000+999, unhex(v.Nonce)...)
		opened := must(sealer.Open(v.Token))
		// Only a renewal has a generation above 0; no call seals a new token of an age above 0.
		if v.Generation > 0 {
			before := &Opened{facts: host.Opened{StartedAt: uint64(v.IssuedAt - v.Age), Generation: v.Generation - 1}, opened: true}
			same(t, "token", must(sealer.Renew(before, payload, lifetime)), v.Token)
		} else if v.Age == 0 {
			same(t, "token", must(sealer.Seal(payload, lifetime)), v.Token)
		}
		check(t, opened, v)
	})
}

func TestIdentifiersComeOutTheSame(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return append(f.SessionIDs, f.Handles...) }, func(t *testing.T, file *vectorFile, v vector) {
		view := must(viewOf(t, file, v))
		at(t, v.IssuedAtMs, unhex(v.ULID)[6:]...)
		if v.Handle != "" {
			same(t, "handle", must(view.MintHandle(v.Type)), v.Handle)
			checkIdentifier(t, must(view.VerifyHandle(v.Type, v.Handle)), v, v.Handle)
			return
		}
		same(t, "session id", must(view.MintSessionID()), v.SessionID)
		checkIdentifier(t, must(view.VerifySessionID(v.SessionID)), v, v.SessionID)
	})
}

func checkIdentifier(t *testing.T, found *Identifier, v vector, text string) {
	t.Helper()
	same(t, "created at", found.CreatedAt().UnixMilli(), v.IssuedAtMs)
	same(t, "ends at", found.EndsAt(), time.Time{})
	same(t, "ulid", found.ULID(), v.ULID)
	same(t, "needs reseal", found.NeedsReseal(), false)
	same(t, "text", found.Text(), text)
}

func TestRequestContexts(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return append(f.RequestContexts, f.RequestContextReject...) }, func(t *testing.T, _ *vectorFile, v vector) {
		var arguments json.RawMessage
		if v.Arguments != nil {
			arguments = json.RawMessage(*v.Arguments)
		}
		context, err := NewRequestContext(*cmp.Or(v.Method, new("tools/call")), *cmp.Or(v.Target, new("x")), arguments)
		if same(t, "error", codeOf(err), v.Error); err == nil {
			same(t, "context", context.String(), v.Context)
		}
	})
}

func TestAccepted(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return f.Accept }, func(t *testing.T, file *vectorFile, v vector) {
		opened, identifier, err := openIt(t, file, v)
		if err != nil {
			t.Fatal(err)
		}
		if opened != nil {
			check(t, opened, *v.Expect)
			same(t, "needs reseal", opened.NeedsReseal(), v.Expect.NeedsReseal)
		} else {
			same(t, "ulid", identifier.ULID(), v.Expect.ULID)
			same(t, "needs reseal", identifier.NeedsReseal(), v.Expect.NeedsReseal)
		}
	})
}

func TestRejected(t *testing.T) {
	seen := map[Code]bool{}
	each(t, func(f *vectorFile) []vector { return f.Reject }, func(t *testing.T, file *vectorFile, v vector) {
		_, _, err := openIt(t, file, v)
		same(t, "error", codeOf(err), v.Error)
		same(t, "is its code", errors.Is(err, v.Error), true)
		same(t, "is a refusal", errors.Is(err, ErrRefused), v.Error != ErrInvalidArgument)
		seen[v.Error] = true
	})
	same(t, "codes", len(seen), 10)
}

func openIt(t *testing.T, file *vectorFile, v vector) (*Opened, *Identifier, error) {
	t.Helper()
	now := v.Now * 1000
	if v.NowMs != nil {
		now = *v.NowMs
	}
	at(t, now)
	var limit []Limit
	if v.MaxAge != nil {
		limit = []Limit{MaxAge(time.Duration(*v.MaxAge) * time.Second)}
	}
	if v.What == "sealed" {
		sealer, err := sealerOf(t, file, v)
		if err != nil {
			return nil, nil, err
		}
		opened, err := sealer.Open(v.Token, limit...)
		return opened, nil, err
	}
	view, err := viewOf(t, file, v)
	if err != nil {
		return nil, nil, err
	}
	if v.What == "session_id" {
		found, err := view.VerifySessionID(v.SessionID, limit...)
		return nil, found, err
	}
	found, err := view.VerifyHandle(v.Type, v.Handle, limit...)
	return nil, found, err
}

func check(t *testing.T, opened *Opened, expected vector) {
	t.Helper()
	same(t, "payload", hex.EncodeToString(opened.Payload()), expected.Payload)
	same(t, "issued at", opened.IssuedAt().Unix(), expected.IssuedAt)
	end := time.Time{}
	if expected.TTL != 0 {
		end = time.Unix(expected.IssuedAt+expected.TTL, 0)
	}
	same(t, "expires at", opened.ExpiresAt().Equal(end), true)
	same(t, "started at", opened.StartedAt().Unix(), max(0, expected.IssuedAt-expected.Age))
	same(t, "generation", opened.Generation(), expected.Generation)
	same(t, "token id", opened.TokenID(), expected.TokenID)
}
