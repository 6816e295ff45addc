package sealwax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// tellsNothing checks all that can be written of an error, and of those it wraps.
func tellsNothing(t *testing.T, err error, secrets ...string) {
	t.Helper()
	if err == nil {
		t.Error("expected an error")
	}
	for ; err != nil; err = errors.Unwrap(err) {
		var said bytes.Buffer
		slog.New(slog.NewJSONHandler(&said, nil)).Info("it", "it", err)
		slog.New(slog.NewTextHandler(&said, nil)).Info("it", "it", err)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&said, verb+"\n", err)
		}
		if text, err := json.Marshal(err); err == nil {
			said.Write(text)
		}
		for _, secret := range secrets {
			if strings.Contains(said.String(), secret) {
				t.Errorf("%T holds a secret of %d bytes", err, len(secret))
			}
		}
	}
}

func TestRefusedTextsAreNotTold(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return f.Reject }, func(t *testing.T, file *vectorFile, v vector) {
		_, _, err := openIt(t, file, v)
		text := map[string]string{"sealed": v.Token, "session_id": v.SessionID, "handle": v.Handle}[v.What]
		tellsNothing(t, err, append(secretsOf(file.Keys), pieces(text, 12)...)...)
	})
}

func TestRefusedKeyTextsAreNotTold(t *testing.T) {
	each(t, func(f *vectorFile) []vector { return f.KeyRings }, func(t *testing.T, file *vectorFile, v vector) {
		var text string
		if err := json.Unmarshal(v.Ring, &text); err != nil || v.Error == "" {
			return
		}
		secrets := secretsOf(file.Keys)
		for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
			secrets = append(secrets, pieces(word[min(5, len(word)):], 8)...)
		}
		_, err := ParseKeyRing(text)
		tellsNothing(t, err, secrets...)
		_, err = ParseKey(text)
		tellsNothing(t, err, secrets...)
		_, err = Inspect(text + "x")
		tellsNothing(t, err, secrets...)
	})
}

func TestTokensPayloadsAndKeysAreNotTold(t *testing.T) {
	const now = 1_780_000_000_000
	at(t, now)
	alice := viewFor(t, codecFor(t), "alice")
	token := must(alice.Session().Seal([]byte(secretPayload), TTL(time.Minute)))
	opened := must(alice.Session().Open(token))
	elsewhere := viewFor(t, must(New(must(NewKeyRing(must(GenerateKey()))), "https://mcp.example.com")), "alice")
	metadata := must(json.Marshal(SessionMetadata{SessionID: token, State: token}))
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(keyText+" "+keyText+"x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var number int
	secrets := append(secretsOf([]keyVector{{secretHex, keyText, ""}}), pieces(token, 12)...)
	fails := func(_ any, err error) { t.Helper(); tellsNothing(t, err, secrets...) }
	fails(viewFor(t, codecFor(t), "mallory").Session().Open(token))
	fails(elsewhere.Session().Open(token))
	fails(alice.Cursor("tools/list").Open(token))
	fails(alice.Session().Open(token + "AAAA"))
	fails(alice.Session().Open(token + "\xff"))
	fails(alice.Session().Seal([]byte(strings.Repeat(secretPayload, 1000))))
	fails(nil, opened.JSON(&number))
	fails(alice.Sessions().Open(metadata))
	fails(alice.Sessions().Open(json.RawMessage(secretPayload + token)))
	fails(alice.Sessions().Verify(token))
	fails(alice.VerifyHandle("basket", token))
	fails(NewRequestContext("tools/call", "x", json.RawMessage(token)))
	fails(ParseKey(keyText + "\xff"))
	fails(ParseKeyRing(keyText + " " + keyText))
	fails(KeyFromSecret(unhex(secretHex)[:31]))
	fails(KeyFromSecret([]byte(keyText)))
	fails(ReadKeyRing(keyText))
	fails(ReadKeyRing(file))
	fails(Inspect(keyText + "x"))
	at(t, now-100_000)
	fails(alice.Session().Open(token))
	at(t, now+60_000)
	fails(alice.Session().Open(token))
}
