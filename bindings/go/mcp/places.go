package sealwaxmcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// sessionMetaKey is the member of _meta that carries the metadata of a session.
const sessionMetaKey = "io.modelcontextprotocol/session"

const sessionHeader = "Mcp-Session-Id"

// noText stands for what is no text: it is not UTF-8.
const noText = "\xff"

// places has, for each type of the SDK's or an author's, where its members are, by their names in JSON.
var places sync.Map

// placeOf returns where a member of a struct is.
func placeOf(of reflect.Type, name string) ([]int, bool) {
	found, ok := places.Load(of)
	if !ok {
		index := map[string][]int{}
		for _, field := range reflect.VisibleFields(of) {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if _, taken := index[tag]; !taken && tag != "" && tag != "-" && field.IsExported() {
				index[tag] = field.Index
			}
		}
		found, _ = places.LoadOrStore(of, index)
	}
	place, ok := found.(map[string][]int)[name]
	return place, ok
}

// memberOf returns a member of a message's params or result, by its name in JSON. It is not valid if there is none.
func memberOf(of any, name string) reflect.Value {
	value := reflect.ValueOf(of)
	if value.Kind() != reflect.Pointer || value.IsNil() || value.Elem().Kind() != reflect.Struct {
		return reflect.Value{}
	}
	place, ok := placeOf(value.Elem().Type(), name)
	if !ok {
		return reflect.Value{}
	}
	member, err := value.Elem().FieldByIndexErr(place)
	if err != nil {
		return reflect.Value{}
	}
	return member
}

// textOf returns a member that is a text, or nil if it is absent: the SDK's types cannot tell that from an empty one.
func textOf(of any, name string) *string {
	member := memberOf(of, name)
	if !member.IsValid() || member.IsZero() {
		return nil
	}
	if member.Kind() == reflect.Pointer {
		member = member.Elem()
	}
	text := noText
	if member.Kind() == reflect.String {
		text = member.String()
	}
	return &text
}

// argumentsOf returns the arguments of a request as JSON: as they came, where the SDK has kept them.
func argumentsOf(params mcp.Params) []byte {
	member := memberOf(params, "arguments")
	if !member.IsValid() || member.IsZero() {
		return nil
	}
	if raw, ok := member.Interface().(json.RawMessage); ok {
		return raw
	}
	written, err := json.Marshal(member.Interface())
	if err != nil {
		return []byte("?")
	}
	return written
}

// copied returns a copy of what a pointer points to: what the SDK or a handler gave may be shared.
func copied(of any) any {
	value := reflect.ValueOf(of)
	made := reflect.New(value.Elem().Type())
	made.Elem().Set(value.Elem())
	return made.Interface()
}

// withParam returns a request with another text in a member of its params; nil removes it.
func withParam(req mcp.Request, name string, text *string) mcp.Request {
	params := copied(req.GetParams())
	member := memberOf(params, name)
	member.SetZero()
	if text != nil {
		if member.Kind() == reflect.Pointer {
			member.Set(reflect.ValueOf(text))
		} else {
			member.SetString(*text)
		}
	}
	made := copied(req)
	reflect.ValueOf(made).Elem().FieldByName("Params").Set(reflect.ValueOf(params))
	return made.(mcp.Request)
}

// token returns the token that a message brings.
func (x *exchange) token() *string {
	if x.fields == nil {
		return nil
	}
	return textOf(x.req.GetParams(), x.fields.Param)
}

// factsOf returns what the engine asks of a result.
func factsOf(result mcp.Result, fields *engine.TokenFields) engine.Facts {
	facts := engine.Facts{CacheScope: textOf(result, "cacheScope")}
	if fields != nil {
		facts.Token = textOf(result, fields.Result)
	}
	if asks, ok := result.(interface{ NeedsInput() bool }); ok && asks.NeedsInput() {
		// The SDK keeps this member to itself.
		kind := "input_required"
		facts.ResultType = &kind
	}
	facts.HasTTL = memberOf(result, "ttlMs").IsValid()
	return facts
}

// metaOf returns the _meta of params.
func metaOf(params mcp.Params) map[string]any {
	if params == nil || reflect.ValueOf(params).IsNil() {
		return nil
	}
	return params.GetMeta()
}

// sentSession returns the session metadata of a message.
func sentSession(params mcp.Params) *engine.ClientSession {
	metadata, ok := metaOf(params)[sessionMetaKey]
	if !ok || metadata == nil {
		return nil
	}
	named, _ := metadata.(map[string]any)
	return &engine.ClientSession{ID: clientValue(named["sessionId"]), State: clientValue(named["state"])}
}

// clientValue returns a client's value as documents take it: a text, true for any other, or nil.
func clientValue(value any) any {
	if value == nil {
		return nil
	}
	if text, ok := value.(string); ok && utf8.ValidString(text) {
		return text
	}
	return true
}

// sentHeader returns the header of a message over HTTP. Several are joined, which never equals the id of the message.
func sentHeader(req mcp.Request) *string {
	extra := req.GetExtra()
	if extra == nil || len(extra.Header.Values(sessionHeader)) == 0 {
		return nil
	}
	joined := strings.Join(http.Header(extra.Header).Values(sessionHeader), ",")
	return &joined
}

// merged returns a value changed by a JSON Merge Patch (RFC 7396).
func merged(value, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	before, _ := value.(map[string]any)
	after := maps.Clone(before)
	if after == nil {
		after = map[string]any{}
	}
	for name, change := range changes {
		if change == nil {
			delete(after, name)
		} else {
			after[name] = merged(after[name], change)
		}
	}
	return after
}

// patched returns a result changed by a JSON Merge Patch.
func patched(result mcp.Result, patch map[string]any) mcp.Result {
	if len(patch) == 0 {
		return result
	}
	made := copied(result).(mcp.Result)
	var rest map[string]any
	for name, change := range patch {
		member := memberOf(made, name)
		if member.IsValid() && set(member, change) {
			continue
		}
		if rest == nil {
			rest = map[string]any{}
		}
		rest[name] = change
	}
	if rest == nil {
		return made
	}
	if found, ok := made.(*mcp.DiscoverResult); ok {
		return &changedDiscovery{found, rest}
	}
	return &changed{made, rest, nil}
}

// set changes a member of a result, if its type has a place for it.
func set(member reflect.Value, change any) bool {
	switch {
	case change == nil:
		member.SetZero()
		return true
	case member.Type() == reflect.TypeFor[mcp.Meta]():
		before := map[string]any(member.Interface().(mcp.Meta))
		after, _ := merged(before, change).(map[string]any)
		member.Set(reflect.ValueOf(mcp.Meta(after)))
		return true
	case member.Kind() == reflect.Struct || member.Kind() == reflect.Pointer && member.Type().Elem().Kind() == reflect.Struct:
		// Its type drops what it does not know.
		return false
	}
	written, err := json.Marshal(change)
	return err == nil && json.Unmarshal(written, member.Addr().Interface()) == nil
}

// changed is a result with members that the SDK's types have no place for.
type changed struct {
	mcp.Result
	patch map[string]any
	meta  map[string]any
}

// GetMeta and SetMeta are there because some of the SDK's results have none, and panic.
func (c *changed) GetMeta() map[string]any {
	if memberOf(c.Result, "_meta").IsValid() {
		return c.Result.GetMeta()
	}
	return c.meta
}

func (c *changed) SetMeta(meta map[string]any) {
	if memberOf(c.Result, "_meta").IsValid() {
		c.Result.SetMeta(meta)
		return
	}
	c.meta = meta
}

func (c *changed) MarshalJSON() ([]byte, error) {
	patch := c.patch
	if c.meta != nil {
		patch = merged(map[string]any{"_meta": c.meta}, patch).(map[string]any)
	}
	return patchedJSON(c.Result, patch)
}

// changedDiscovery is one that the SDK still knows, for it adds a member to it.
type changedDiscovery struct {
	*mcp.DiscoverResult
	patch map[string]any
}

func (c *changedDiscovery) MarshalJSON() ([]byte, error) {
	return patchedJSON(c.DiscoverResult, c.patch)
}

func patchedJSON(of any, patch map[string]any) ([]byte, error) {
	written, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	value, err := decoded(written)
	if err != nil {
		return nil, err
	}
	return json.Marshal(merged(value, patch))
}

// decoded reads JSON without loss of digits.
func decoded(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return value, decoder.Decode(&value)
}
