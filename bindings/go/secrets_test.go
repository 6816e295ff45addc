package sealwax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sealwax/sealwax-go/internal/host"
)

// pieces returns every run of so many characters.
func pieces(text string, size int) (all []string) {
	for from := 0; from+size <= len(text); from++ {
		all = append(all, text[from:from+size])
	}
	return all
}

const secretPayload = "hunter2"

// secretsOf returns what no error may hold: 8 characters of a key's text, 8 bytes of its secret, a payload.
func secretsOf(keys []keyVector) []string {
	secrets := []string{secretPayload, fmt.Sprintf("%x", secretPayload), fmt.Sprint([]byte(secretPayload))[1:20]}
	for _, key := range keys {
		secrets = append(secrets, pieces(key.Text[5:], 8)...)
		secrets = append(secrets, pieces(key.Secret, 16)...)
		secrets = append(secrets, string(unhex(key.Secret)[:8]), fmt.Sprint(unhex(key.Secret)[:8])[1:])
	}
	return secrets
}

// shown is all that can be written of a value.
func shown(value any) string {
	var said bytes.Buffer
	slog.New(slog.NewJSONHandler(&said, nil)).Info("it", "it", value)
	slog.New(slog.NewTextHandler(&said, nil)).Info("it", "it", value)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&said, verb+"\n", value)
	}
	return said.String()
}

func holdsNone(t *testing.T, value any, secrets ...string) {
	t.Helper()
	said := shown(value)
	for _, secret := range secrets {
		if strings.Contains(said, secret) {
			t.Errorf("%T holds a secret of %d bytes", value, len(secret))
		}
	}
}

// tellsNothing checks an error, and those it wraps.
func tellsNothing(t *testing.T, err error, secrets ...string) {
	t.Helper()
	if err == nil {
		t.Error("expected an error")
	}
	for ; err != nil; err = errors.Unwrap(err) {
		holdsNone(t, err, secrets...)
	}
}

func TestNothingSecretIsPrinted(t *testing.T) {
	key := must(ParseKey(keyText))
	ring := must(NewKeyRing(key))
	codec := must(New(ring, "a"))
	alice := viewFor(t, codec, "alice")
	opened := must(alice.Session().Open(must(alice.Session().Seal([]byte(secretPayload)))))
	metadata := must(alice.Sessions().Create([]byte(secretPayload)))
	session := must(alice.Sessions().Open(sent(metadata)))
	id := must(alice.VerifySessionID(session.ID()))
	secrets := append(secretsOf([]keyVector{{secretHex, keyText, ""}}), strings.ToUpper(secretHex), fmt.Sprintf("%x", keyText),
		fmt.Sprintf("%X", keyText), fmt.Sprint([]byte(keyText))[1:20], session.ID(), metadata.State)
	for _, holder := range []any{
		key, *key, ring, *ring, codec, *codec, alice, *alice, alice.Session(), opened, *opened, session, *session, id, *id,
		[]*Key{key}, map[string]Key{"key": *key}, host.KeyOf([]byte(keyText), host.Text), host.RingOf([]byte(keyText)),
		struct {
			Key  *Key
			Ring KeyRing
		}{key, *ring},
	} {
		holdsNone(t, holder, secrets...)
		if text, err := json.Marshal(holder); err == nil {
			holdsNone(t, string(text), secrets...)
		}
	}
	// What is sent to a client is not what is logged.
	holdsNone(t, metadata, secrets...)
	holdsNone(t, &metadata, secrets...)
	same(t, "key", fmt.Sprintf("%v %s %#v", key, *key, ring), "Key(a8ca0d4a) Key(a8ca0d4a) KeyRing(a8ca0d4a)")
}

func TestRefusedTextsAreNotTold(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return f.Reject }, func(t *testing.T, file *vectorFile, v vector) {
		_, _, err := openIt(t, file, v)
		text := map[string]string{"sealed": v.Token, "session_id": v.SessionID, "handle": v.Handle}[v.What]
		tellsNothing(t, err, append(secretsOf(file.Keys), pieces(text, 12)...)...)
	})
}

func TestTokensPayloadsAndKeysAreNotTold(t *testing.T) {
	alice := viewFor(t, codecFor(t), "alice")
	token := must(alice.Session().Seal([]byte(secretPayload)))
	opened := must(alice.Session().Open(token))
	elsewhere := viewFor(t, must(New(must(NewKeyRing(must(GenerateKey()))), "https://mcp.example.com")), "alice")
	file := filepath.Join(t.TempDir(), "keys")
	replace(t, file, keyText+" "+keyText+"x")
	var number int
	secrets := append(secretsOf([]keyVector{{secretHex, keyText, ""}}), pieces(token, 12)...)
	for _, err := range []error{
		failure(elsewhere.Session().Open(token)),
		failure(alice.Session().Open(token + "\xff")),
		failure(alice.Session().Seal([]byte(strings.Repeat(secretPayload, 1000)))),
		opened.JSON(&number),
		failure(alice.Sessions().Open(sent(SessionMetadata{SessionID: token, State: token}))),
		failure(alice.Sessions().Open(json.RawMessage(secretPayload + token))),
		failure(alice.Sessions().Verify(token)),
		failure(NewRequestContext("tools/call", "x", json.RawMessage(token))),
		failure(ParseKey(keyText + "\xff")),
		failure(ParseKeyRing(keyText + " " + keyText)),
		failure(KeyFromSecret(unhex(secretHex)[:31])),
		failure(KeyFromSecret([]byte(keyText))),
		failure(ReadKeyRing(keyText)),
		failure(ReadKeyRing(file)),
		failure(Inspect(keyText + "x")),
	} {
		tellsNothing(t, err, secrets...)
	}
}
