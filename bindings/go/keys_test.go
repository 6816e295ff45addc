package sealwax

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// logged is what a codec tells.
type logged struct{ records chan slog.Record }

func newLog() logged { return logged{make(chan slog.Record, 100)} }

func (logged) Enabled(context.Context, slog.Level) bool { return true }

func (l logged) Handle(_ context.Context, record slog.Record) error { l.records <- record; return nil }

func (l logged) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l logged) WithGroup(string) slog.Handler { return l }

func (l logged) next(t *testing.T) (level slog.Level, text, message string) {
	t.Helper()
	select {
	case record := <-l.records:
		record.Attrs(func(a slog.Attr) bool { message = a.Value.String(); return true })
		return record.Level, record.Message, message
	case <-time.After(time.Minute):
		t.Fatal("expected a line in the log")
		return 0, "", ""
	}
}

func replace(t *testing.T, path, text string) {
	t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func textsOf(keys ...*Key) string {
	var texts []string
	for _, key := range keys {
		texts = append(texts, must(key.Text()))
	}
	return strings.Join(texts, "\n")
}

func followed(t *testing.T, path string, log logged) *Codec {
	t.Helper()
	codec := must(FromFile(path, "https://mcp.example.com", WithKeysInterval(time.Millisecond), WithLogger(slog.New(log))))
	t.Cleanup(func() { _ = codec.Close() })
	return codec
}

func TestKeysThatAreSetAreThoseOfNewViews(t *testing.T) {
	a, b := must(GenerateKey()), must(GenerateKey())
	codec := must(New(must(NewKeyRing(a)), "a"))
	before, nobody := viewFor(t, codec, "alice"), must(codec.Anonymous())
	token, public := must(before.Session().Seal(nil)), must(nobody.Session().Seal(nil))
	same(t, "changed", must(codec.SetKeys(must(NewKeyRing(a)))), false)
	same(t, "view", viewFor(t, codec, "alice"), before)
	same(t, "changed", must(codec.SetKeys(must(NewKeyRing(b)))), true)
	_ = must(before.Session().Open(token))
	_, err := viewFor(t, codec, "alice").Session().Open(token)
	refuses(t, ErrUnknownKey, err)
	_, err = must(codec.Anonymous()).Session().Open(public)
	refuses(t, ErrUnknownKey, err)
	same(t, "codec", codec.String(), `Codec("a", keys [`+b.ID()+`])`)
	same(t, "changed", must(codec.SetKeys(must(NewKeyRing(b, a)))), true)
	same(t, "needs reseal", must(viewFor(t, codec, "alice").Session().Open(token)).NeedsReseal(), true)
}

func TestNoViewOfOldKeysIsKeptWhileGoroutinesMakeViews(t *testing.T) {
	rings := []*KeyRing{must(NewKeyRing(must(GenerateKey()))), must(NewKeyRing(must(GenerateKey())))}
	codec := must(New(rings[0], "a"))
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for ctx.Err() == nil {
				for user := range 100 {
					_ = must(must(codec.View(Subject(string(rune('a' + user))))).Session().Seal(nil))
				}
			}
		})
	}
	for turn := range 100 {
		ring := rings[(turn+1)%2]
		same(t, "changed", must(codec.SetKeys(ring)), true)
		for user := range 5 {
			token := must(must(codec.View(Subject(string(rune('a' + user))))).Session().Seal(nil))
			same(t, "key", must(Inspect(token)).KeyID, ring.IDs()[0])
		}
	}
	cancel()
	group.Wait()
}

func TestACodecFollowsItsFileAndKeepsItsKeysWhileTheFileIsBad(t *testing.T) {
	a, b := must(GenerateKey()), must(GenerateKey())
	path, log := filepath.Join(t.TempDir(), "keys"), newLog()
	replace(t, path, textsOf(a))
	codec := followed(t, path, log)
	token := must(viewFor(t, codec, "alice").Session().Seal(nil))

	replace(t, path, textsOf(b, a))
	level, text, message := log.next(t)
	same(t, "level", level, slog.LevelInfo)
	same(t, "text", text, "sealwax: keys_changed")
	same(t, "message", message, "keys file "+path+": "+b.ID()+" seals, "+b.ID()+" "+a.ID()+" open")
	same(t, "needs reseal", must(viewFor(t, codec, "alice").Session().Open(token)).NeedsReseal(), true)

	half := textsOf(a, b)[:80]
	for _, bad := range []struct{ text, said string }{
		{half, "key 2 of the ring: expected a key text"},
		{"absent", ""},
	} {
		if bad.text == "absent" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			replace(t, path, bad.text)
		}
		level, text, message := log.next(t)
		same(t, "level", level, slog.LevelWarn)
		same(t, "text", text, "sealwax: invalid_key")
		if !strings.HasPrefix(message, "keys file "+path+": "+bad.said) || !strings.HasSuffix(message, "; the present keys stay in use") {
			t.Error(message)
		}
		same(t, "half", strings.Contains(message, half[5:30]), false)
		same(t, "needs reseal", must(viewFor(t, codec, "alice").Session().Open(token)).NeedsReseal(), true)
		// It is read again, and said once.
		time.Sleep(10 * time.Millisecond)
		same(t, "lines", len(log.records), 0)
	}
	replace(t, path, textsOf(b))
	level, _, _ = log.next(t)
	same(t, "level", level, slog.LevelInfo)
	_, err := viewFor(t, codec, "alice").Session().Open(token)
	refuses(t, ErrUnknownKey, err)
}

// breaking is a log that panics, after it has told.
type breaking struct{ logged }

func (b breaking) Handle(ctx context.Context, record slog.Record) error {
	_ = b.logged.Handle(ctx, record)
	panic("of a logger")
}

func TestALoggerThatPanicsEndsNoWatch(t *testing.T) {
	a, b := must(GenerateKey()), must(GenerateKey())
	path, log := filepath.Join(t.TempDir(), "keys"), newLog()
	replace(t, path, textsOf(a))
	codec := must(FromFile(path, "a", WithKeysInterval(time.Millisecond), WithLogger(slog.New(breaking{log}))))
	t.Cleanup(func() { _ = codec.Close() })
	replace(t, path, "nothing")
	_, text, _ := log.next(t)
	same(t, "text", text, "sealwax: invalid_key")
	replace(t, path, textsOf(b))
	_, text, _ = log.next(t)
	same(t, "text", text, "sealwax: keys_changed")
	same(t, "codec", strings.Contains(codec.String(), b.ID()), true)
}

func TestTheWatchEndsWithItsCodec(t *testing.T) {
	path, log := filepath.Join(t.TempDir(), "keys"), newLog()
	replace(t, path, textsOf(must(GenerateKey())))
	watch := func() <-chan struct{} {
		codec := must(FromFile(path, "a", WithKeysInterval(time.Millisecond), WithLogger(slog.New(log))))
		_ = viewFor(t, codec, "alice")
		return codec.watch.done
	}()
	for end := time.Now().Add(time.Minute); ; {
		runtime.GC()
		select {
		case <-watch:
			return
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatal("expected that the watch ends")
		}
	}
}

func TestAClosedCodecKeepsItsKeys(t *testing.T) {
	path, log := filepath.Join(t.TempDir(), "keys"), newLog()
	replace(t, path, textsOf(must(GenerateKey())))
	codec := followed(t, path, log)
	for range 2 {
		same(t, "close", codec.Close(), nil)
	}
	replace(t, path, "none")
	_ = must(viewFor(t, codec, "alice").Session().Seal(nil))
	same(t, "lines", len(log.records), 0)
}

func TestTheEnvironmentNamesAFileOrHasTheKeys(t *testing.T) {
	a, b := must(GenerateKey()), must(GenerateKey())
	path := filepath.Join(t.TempDir(), "keys")
	replace(t, path, textsOf(b, a))
	of := func(keys, file string) (*Codec, error) {
		t.Setenv("SEALWAX_KEYS", keys)
		t.Setenv("SEALWAX_KEYS_FILE", file)
		codec, err := FromEnv("a", WithKeysInterval(time.Millisecond))
		t.Cleanup(func() { _ = codec.Close() })
		return codec, err
	}
	token := must(viewFor(t, must(of(textsOf(a), "")), "alice").Session().Seal(nil))
	codec := must(of("", path))
	same(t, "needs reseal", must(viewFor(t, codec, "alice").Session().Open(token)).NeedsReseal(), true)
	same(t, "follows", codec.watch != nil, true)
	same(t, "ids", strings.Join(must(KeyRingFromEnv()).IDs(), " "), b.ID()+" "+a.ID())
	for _, wrong := range []struct{ keys, file, said string }{
		{"", "", "SEALWAX_KEYS is not set, nor is SEALWAX_KEYS_FILE"},
		{"", textsOf(a), "invalid_key: keys file: expected a path, found the text of a key: that belongs"},
		{"", filepath.Dir(path), "keys file " + filepath.Dir(path) + ": "},
	} {
		_, err := of(wrong.keys, wrong.file)
		refuses(t, ErrInvalidKey, err)
		if !strings.Contains(err.Error(), wrong.said) {
			t.Error(err)
		}
		_, err = KeyRingFromEnv()
		refuses(t, ErrInvalidKey, err)
	}
}

func TestTheDefaultLogHasALineThatTheCommandReads(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	path := filepath.Join(t.TempDir(), "keys")
	a := must(GenerateKey())
	replace(t, path, textsOf(a))
	codec := must(New(must(NewKeyRing(must(GenerateKey()))), "a"))
	same(t, "fault", codec.readAgain(path, "", nil), "")
	if text := out.String(); !strings.Contains(text, `msg="sealwax: keys_changed" message="keys file `+path+": "+a.ID()+" seals") {
		t.Error(text)
	}
}
