package sealwax

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// fails reports whether an error is a refusal or a mistake of the caller: no trap, and nothing else.
func fails(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrInvalidArgument) && !errors.Is(err, ErrInvalidKey) {
		t.Error(err)
	}
}

func FuzzTexts(f *testing.F) {
	alice := viewFor(f, codecFor(f), "alice")
	sealers := []Sealer{alice.Session(), alice.Cursor("tools/list"), alice.HandleState("basket")}
	for _, sealer := range sealers {
		f.Add(must(sealer.Seal([]byte("payload"))))
	}
	for _, seed := range []string{
		"", "sw1.", "sw2.AAAA", "sess_", "basket_", "\xff", "sw1.\x00", must(alice.MintSessionID()), must(alice.MintHandle("basket")), keyText,
		keyText + " # comment", "swk1_", ",", keyText + "," + keyText,
		string(sent(must(alice.Sessions().Create([]byte("1"))))), "{}", `{"sessionId":"sess_x","state":[[[[`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, sealer := range sealers {
			fails(t, failure(sealer.Open(text)))
		}
		fails(t, failure(alice.VerifySessionID(text)))
		fails(t, failure(alice.VerifyHandle("basket", text)))
		fails(t, failure(alice.Sessions().Open(json.RawMessage(text))))
		fails(t, failure(alice.Sessions().Verify(text)))
		fails(t, failure(Inspect(text)))
		fails(t, failure(ParseKey(text)))
		fails(t, failure(ParseKeyRing(text)))
		fails(t, failure(KeyFromSecret([]byte(text))))
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
		fails(t, failure(NewRequestContext(method, target, json.RawMessage(arguments), target)))
		fails(t, failure(PrincipalFromClaims(json.RawMessage(arguments))))
		fails(t, failure(TokenFieldsOf(method)))
		fails(t, failure(AnswerTo(Profile(method), nil, target)))
	})
}
