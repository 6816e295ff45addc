package sealwax

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"testing/quick"
)

// Whatever is sealed comes back, to its principal and its purpose alone.
func TestWhatIsSealedComesBack(t *testing.T) {
	codec := codecFor(t)
	alice, mallory := viewFor(t, codec, "alice"), viewFor(t, codec, "mallory")
	check := func(payload []byte, label string, context [32]byte) bool {
		sealers := func(view *View) []Sealer {
			return []Sealer{
				view.Cursor("a" + label), view.RequestState(RequestContextOf(context)),
				view.Custom("a"+label, ToSession(label+"b"), ToRequest(RequestContextOf(context))),
			}
		}
		for n, sealer := range sealers(alice) {
			token, err := sealer.Seal(payload)
			if err != nil {
				// Labels of quick are valid Unicode, and of 50 characters at most.
				t.Error(err)
				return false
			}
			opened, err := sealer.Open(token)
			if err != nil || !bytes.Equal(opened.Payload(), payload) {
				t.Error(err)
				return false
			}
			if _, err := sealers(mallory)[n].Open(token); !errors.Is(err, ErrPrincipalMismatch) {
				t.Error(err)
				return false
			}
			for at := range token {
				turned := []byte(token)
				turned[at] ^= 1
				if _, err := sealer.Open(string(turned)); !errors.Is(err, ErrRefused) {
					t.Error(at, err)
					return false
				}
			}
		}
		return true
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 10}); err != nil {
		t.Error(err)
	}
}

// fails reports whether an error is a refusal or a mistake of the caller: no trap, and nothing else.
func fails(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrInvalidArgument) && !errors.Is(err, ErrInvalidKey) {
		t.Error(err)
	}
}

func FuzzWhatAClientSends(f *testing.F) {
	alice := viewFor(f, codecFor(f), "alice")
	sealers := []Sealer{alice.Session(), alice.Cursor("tools/list"), alice.HandleState("basket")}
	for _, sealer := range sealers {
		f.Add(must(sealer.Seal([]byte("payload"))))
	}
	for _, seed := range []string{
		"", "sw1.", "sw2.AAAA", "sess_", "basket_", "\xff", "sw1.\x00", must(alice.MintSessionID()), must(alice.MintHandle("basket")), keyText,
		string(sent(must(alice.Sessions().Create([]byte("1"))))), "{}", `{"sessionId":"sess_x","state":[[[[`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, sealer := range sealers {
			_, err := sealer.Open(text)
			fails(t, err)
		}
		_, err := alice.VerifySessionID(text)
		fails(t, err)
		_, err = alice.VerifyHandle("basket", text)
		fails(t, err)
		_, err = alice.Sessions().Open(json.RawMessage(text))
		fails(t, err)
		_, err = alice.Sessions().Verify(text)
		fails(t, err)
		_, err = Inspect(text)
		fails(t, err)
	})
}

func FuzzWhatARequestHas(f *testing.F) {
	for _, seed := range [][3]string{
		{"tools/call", "x", `{"id":7}`}, {"tools/call", "x", ""}, {"", "", "null"}, {"tools/call", "x", `{"a":1,"a":2}`},
		{"tools/call", "x", `{"a":1e400}`}, {"tools/call", "x", `{"a":"\ud800"}`}, {"tools/call", "\xff", "[]"},
		{"tools/call", "x", string(bytes.Repeat([]byte("["), 10_000))}, {"iss", "sub", `{"iss":"a","sub":"b","azp":7}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, target, arguments string) {
		one, err := NewRequestContext(method, target, json.RawMessage(arguments))
		fails(t, err)
		if err == nil && arguments != "" {
			again, err := NewRequestContext(method, target, json.RawMessage(" "+arguments+"\n"))
			if err != nil || again != one {
				t.Errorf("expected the same with white space, found %v", err)
			}
		}
		_, err = NewRequestContext(method, target, json.RawMessage(arguments), target)
		fails(t, err)
		_, err = PrincipalFromClaims(json.RawMessage(arguments))
		fails(t, err)
		_, err = TokenFieldsOf(method)
		fails(t, err)
		_, err = AnswerTo(Profile(method), nil, target)
		fails(t, err)
	})
}

func FuzzKeys(f *testing.F) {
	for _, seed := range []string{keyText, keyText + " # comment", "swk1_", ",", "\x00", "\xff", keyText + "," + keyText} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ParseKey(text)
		fails(t, err)
		_, err = ParseKeyRing(text)
		fails(t, err)
		_, err = KeyFromSecret([]byte(text))
		fails(t, err)
	})
}
