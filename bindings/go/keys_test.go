package sealwax

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

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

// fileOf returns the path of a file with keys.
func fileOf(t *testing.T, keys ...*Key) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	replace(t, path, textsOf(keys...))
	return path
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
	refuses(t, ErrUnknownKey, failure(viewFor(t, codec, "alice").Session().Open(token)))
	refuses(t, ErrUnknownKey, failure(must(codec.Anonymous()).Session().Open(public)))
	same(t, "changed", must(codec.SetKeys(must(NewKeyRing(b, a)))), true)
	same(t, "needs reseal", must(viewFor(t, codec, "alice").Session().Open(token)).NeedsReseal(), true)
}

func TestGoroutinesShareACodecWhoseKeysChange(t *testing.T) {
	a, b := must(GenerateKey()), must(GenerateKey())
	rings := []*KeyRing{must(NewKeyRing(a, b)), must(NewKeyRing(b, a))}
	codec := must(New(rings[0], "a"))
	sealer := func(user int) Sealer { return viewFor(t, codec, fmt.Sprint("user ", user)).Cursor("tools/list") }
	var group sync.WaitGroup
	ids := make([][]string, 8)
	for worker := range ids {
		group.Go(func() {
			for n := range 250 {
				user := (worker + n) % 100
				opened := must(sealer(user).Open(must(sealer(user).Seal([]byte(fmt.Sprint(user))))))
				same(t, "payload", string(opened.Payload()), fmt.Sprint(user))
				ids[worker] = append(ids[worker], opened.TokenID())
			}
		})
	}
	for turn := range 20 {
		ring := rings[(turn+1)%2]
		same(t, "changed", must(codec.SetKeys(ring)), true)
		for user := range 5 {
			same(t, "key", must(Inspect(must(sealer(user).Seal(nil)))).KeyID, ring.IDs()[0])
		}
	}
	group.Wait()
	// A token's id is of its nonce: no two alike, whichever pooled instance drew them.
	all := slices.Concat(ids...)
	slices.Sort(all)
	same(t, "ids", len(slices.Compact(all)), 8*250)
}

// What the watch of a codec does each time, with a line that the command reads.
func TestACodecKeepsItsKeysWhileItsFileIsBad(t *testing.T) {
	var out bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	a, b := must(GenerateKey()), must(GenerateKey())
	path := fileOf(t, a)
	codec := must(New(must(NewKeyRing(a)), "a"))
	token := must(viewFor(t, codec, "alice").Session().Seal(nil))
	half := textsOf(a, b)[:80]
	const invalid, kept = `level=WARN msg="sealwax: invalid_key" message="keys file PATH: `, "; the present keys stay in use"
	fault := ""
	for n, one := range []struct{ text, said, end string }{
		{textsOf(b, a), `level=INFO msg="sealwax: keys_changed" message="keys file PATH: ` + b.ID() + " seals, ", b.ID() + " " + a.ID() + " open"},
		{half, invalid + "key 2 of the ring: expected a key text", kept},
		// It is read again, and said once.
		{half, "", ""},
		{"nothing", invalid + "key 1 of the ring", kept},
	} {
		replace(t, path, one.text)
		out.Reset()
		fault = codec.readAgain(path, fault, nil)
		line := out.String()
		if !strings.Contains(line, strings.ReplaceAll(one.said, "PATH", path)) || !strings.Contains(line, one.end) || (line == "") != (one.said == "") {
			t.Errorf("%d: logged %q", n, line)
		}
		same(t, "half", strings.Contains(line, half[5:30]), false)
		same(t, "needs reseal", must(viewFor(t, codec, "alice").Session().Open(token)).NeedsReseal(), true)
	}
	replace(t, path, textsOf(b))
	codec.readAgain(path, fault, nil)
	refuses(t, ErrUnknownKey, failure(viewFor(t, codec, "alice").Session().Open(token)))
}

// breaking is a log that panics, after it has told.
type breaking struct {
	slog.Handler
	lines chan string
}

func (breaking) Enabled(context.Context, slog.Level) bool { return true }

func (b breaking) Handle(_ context.Context, record slog.Record) error {
	b.lines <- record.Message
	panic("of a logger")
}

func TestALoggerThatPanicsEndsNoWatch(t *testing.T) {
	path, log := fileOf(t, must(GenerateKey())), breaking{slog.DiscardHandler, make(chan string, 100)}
	codec := must(FromFile(path, "a", WithKeysInterval(time.Millisecond), WithLogger(slog.New(log))))
	t.Cleanup(func() { _ = codec.Close() })
	replace(t, path, "nothing")
	same(t, "text", <-log.lines, "sealwax: invalid_key")
	b := must(GenerateKey())
	replace(t, path, textsOf(b))
	same(t, "text", <-log.lines, "sealwax: keys_changed")
	same(t, "codec", strings.Contains(codec.String(), b.ID()), true)
}

func TestTheWatchEndsWithItsCodec(t *testing.T) {
	path := fileOf(t, must(GenerateKey()))
	watch := func(closed bool) <-chan struct{} {
		codec := must(FromFile(path, "a", WithKeysInterval(time.Millisecond)))
		for range 2 {
			if closed {
				same(t, "close", codec.Close(), nil)
			}
			must(viewFor(t, codec, "alice").Session().Seal(nil))
		}
		return codec.watch.done
	}
	<-watch(true)
	left := watch(false)
	for {
		runtime.GC()
		select {
		case <-left:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// Which of them counts is shown by the vectors.
func TestTheEnvironmentNamesAFileOrHasTheKeys(t *testing.T) {
	b := must(GenerateKey())
	path := fileOf(t, b)
	t.Setenv("SEALWAX_KEYS", "")
	t.Setenv("SEALWAX_KEYS_FILE", path)
	codec := must(FromEnv("a", WithKeysInterval(time.Millisecond)))
	t.Cleanup(func() { _ = codec.Close() })
	same(t, "follows", codec.watch != nil, true)
	same(t, "codec and ring", codec.String()+must(KeyRingFromEnv()).IDs()[0], `Codec("a", keys [`+b.ID()+`])`+b.ID())
	t.Setenv("SEALWAX_KEYS_FILE", filepath.Dir(path))
	for _, err := range []error{failure(FromEnv("a")), failure(KeyRingFromEnv())} {
		refuses(t, ErrInvalidKey, err)
		same(t, "names it", strings.Contains(err.Error(), "keys file "+filepath.Dir(path)+": "), true)
	}
}
