package sealwaxmcp

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/sealwaxtest"
)

// file is tests/vectors/guard.json, whose guard.py says what everything in it means.
type transcripts struct {
	Keys        map[string]string
	Audience    string
	People      map[string]map[string]any
	Transcripts []transcript
}

type transcript struct {
	Name     string
	Not      map[string]string
	Settings map[string]any
	Events   []map[string]any
}

var file = sync.OnceValue(func() *transcripts {
	text, err := os.ReadFile("../../../tests/vectors/guard.json")
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	found := &transcripts{}
	if err := decoder.Decode(found); err != nil {
		panic(err)
	}
	return found
})

// begins is when a transcript begins.
var begins = time.Unix(1_800_000_000, 0)

// world has the people, keys, tokens, sessions and handles that a transcript names.
type world struct {
	t      testing.TB
	clock  *sealwaxtest.Clock
	tokens map[string]string
	// sessions has every metadata that was seen of each.
	sessions map[string][]map[string]any
	handles  map[string]string
}

func newWorld(t testing.TB) *world {
	return &world{t, sealwaxtest.NewClock(begins), map[string]string{}, map[string][]map[string]any{}, map[string]string{}}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func text(value any) string { found, _ := value.(string); return found }

func object(value any) map[string]any { found, _ := value.(map[string]any); return found }

func list(value any) []any { found, _ := value.([]any); return found }

func number(value any) int64 {
	found, _ := value.(json.Number)
	n, _ := found.Int64()
	return n
}

func span(value any) time.Duration { return time.Duration(number(value)) * time.Second }

func jsonOf(value any) []byte { return must(json.Marshal(value)) }

// codec has the key that a thing was made with: `both` is the guard's own ring.
func (w *world) codec(made map[string]any, options ...sealwax.Option) *sealwax.Codec {
	name, keys := text(made["key"]), file().Keys
	ring := keys[name]
	switch name {
	case "":
		ring = keys["new"]
	case "both":
		ring = keys["new"] + " " + keys["old"]
	}
	audience := text(made["audience"])
	if audience == "" {
		audience = file().Audience
	}
	return sealwaxtest.NewCodecOf(w.t, w.clock, must(sealwax.ParseKeyRing(ring)), audience, options...)
}

func personOf(who string) (Principal, bool) {
	parts, ok := file().People[who]
	if !ok || parts["anonymous"] == true {
		return Principal{}, ok
	}
	return sealwax.Subject(text(parts["subject"])).WithClient(text(parts["client"])).WithIssuer(text(parts["issuer"])), true
}

func (w *world) view(made map[string]any) *sealwax.View {
	var options []sealwax.Option
	if made["key"] != "both" {
		options = append(options, sealwax.WithPayloadLimit(1<<16))
	}
	codec := w.codec(made, options...)
	who := text(made["as"])
	if who == "" {
		who = "alice"
	}
	if who == "anonymous" {
		return must(codec.Anonymous())
	}
	person, _ := personOf(who)
	return must(codec.View(person))
}

func (w *world) sealer(view *sealwax.View, token map[string]any) sealwax.Sealer {
	switch token["kind"] {
	case "request-state":
		told := list(token["context"])
		var arguments json.RawMessage
		if told[2] != nil {
			arguments = jsonOf(told[2])
		}
		return view.RequestState(must(sealwax.NewRequestContext(text(told[0]), text(told[1]), arguments)))
	case "cursor":
		return view.Cursor(text(token["label"]))
	}
	return view.Session()
}

func changedText(text string, change any) string {
	switch change {
	case "flip":
		// Not the last character, of which some bits may be unused.
		place := len(text) - 5
		with := "a"
		if text[place] == 'a' {
			with = "b"
		}
		return text[:place] + with + text[place+1:]
	case "pad":
		return text + "="
	case "cut":
		return text[:len(text)-1]
	case "double":
		return text + text
	}
	return text
}

// ago runs f at a time before now.
func (w *world) ago(d time.Duration, f func()) {
	now := w.clock.Now()
	w.clock.Set(now.Add(-d))
	defer w.clock.Set(now)
	f()
}

// resolved returns a value of a transcript, with what it names put in.
func (w *world) resolved(value any) any {
	switch value := value.(type) {
	case []any:
		found := make([]any, len(value))
		for i, one := range value {
			found[i] = w.resolved(one)
		}
		return found
	case map[string]any:
		if token, ok := value["$token"]; ok {
			return w.token(token)
		}
		if _, ok := value["$session"]; ok {
			return w.session(value)
		}
		if handle, ok := value["$handle"]; ok {
			return w.handle(handle)
		}
		found := map[string]any{}
		for name, one := range value {
			found[name] = w.resolved(one)
		}
		return found
	}
	return value
}

func lifetimeOf(made map[string]any) []sealwax.Lifetime {
	if made["ttl"] == nil {
		return nil
	}
	return []sealwax.Lifetime{sealwax.TTL(span(made["ttl"]))}
}

func (w *world) token(named any) string {
	if name, ok := named.(string); ok {
		return w.tokens[name]
	}
	token := object(named)
	var made string
	w.ago(span(token["age"]), func() {
		made = must(w.sealer(w.view(token), token).Seal([]byte(text(token["payload"])), lifetimeOf(token)...))
	})
	made = changedText(made, token["change"])
	if name := text(token["name"]); name != "" {
		w.tokens[name] = made
	}
	return made
}

func (w *world) session(named map[string]any) any {
	made := object(named["$session"])
	var metadata map[string]any
	if name, ok := named["$session"].(string); ok {
		made = named
		versions := w.sessions[name]
		at := len(versions) - 1
		if version, ok := named["version"]; ok {
			at = int(number(version))
			if at < 0 {
				at += len(versions)
			}
		}
		metadata = map[string]any{}
		for name, member := range versions[at] {
			metadata[name] = member
		}
	} else {
		metadata = w.madeSession(made)
	}
	for _, member := range list(made["without"]) {
		delete(metadata, text(member))
	}
	if member := text(named["member"]); member != "" {
		return metadata[member]
	}
	return metadata
}

func (w *world) madeSession(made map[string]any) map[string]any {
	payload := text(made["payload"])
	if made["payload"] == nil {
		payload = "1"
	}
	created := func(age string) map[string]any {
		var metadata map[string]any
		w.ago(span(made[age]), func() {
			found := must(w.view(made).Sessions(lifetimeOf(made)...).Create([]byte(payload)))
			metadata = object(must(decoded(jsonOf(found))))
		})
		return metadata
	}
	age := "age"
	if _, ok := made["idAge"]; ok {
		age = "idAge"
	}
	metadata := created(age)
	if made["idAge"] != nil || made["stateOf"] != nil {
		metadata["state"] = created("age")["state"]
	}
	if state, ok := made["state"]; ok {
		metadata["state"] = state
	}
	for member, change := range map[string]any{"sessionId": made["changeId"], "state": made["changeState"]} {
		if found, ok := metadata[member].(string); ok {
			metadata[member] = changedText(found, change)
		}
	}
	if name := text(made["name"]); name != "" {
		w.sessions[name] = append(w.sessions[name], metadata)
	}
	return metadata
}

func (w *world) handle(named any) string {
	if name, ok := named.(string); ok {
		return w.handles[name]
	}
	handle := object(named)
	var made string
	w.ago(span(handle["age"]), func() {
		of := w.view(handle)
		if payload, ok := handle["payload"]; ok {
			made = must(of.HandleState(text(handle["type"])).Seal([]byte(text(payload))))
		} else {
			made = must(of.MintHandle(text(handle["type"])))
		}
	})
	return changedText(made, handle["change"])
}

func describe(value any) string { return string(jsonOf(value)) }
