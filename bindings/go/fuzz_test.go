package sealwax

import (
	"encoding/json"
	"errors"
	"strings"
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
		`{"a":1,"a":2}`, `{"a":1e400}`, `{"a":"\ud800"}`, `{"iss":"a","sub":"b","azp":7}`, strings.Repeat("[", 10_000),
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
		fails(t, failure(NewRequestContext(text, text, json.RawMessage(text), text)))
		fails(t, failure(PrincipalFromClaims(json.RawMessage(text))))
		fails(t, failure(TokenFieldsOf(text)))
		fails(t, failure(AnswerTo(Profile(text), nil, text)))
	})
}
