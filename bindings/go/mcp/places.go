package sealwaxmcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// hasPlace tells whether a type has a place for a member.
func hasPlace(of any, name string) bool {
	found := reflect.TypeOf(of)
	if found == nil || found.Kind() != reflect.Pointer || found.Elem().Kind() != reflect.Struct {
		return false
	}
	_, ok := placeOf(found.Elem(), name)
	return ok
}

// hidesParam tells whether a type of an author's that reads JSON by itself keeps a member where the guard does not see it.
func hidesParam(params mcp.Params, name string) bool {
	if _, ok := params.(json.Unmarshaler); !ok || hasPlace(params, name) {
		return false
	}
	with := reflect.New(reflect.TypeOf(params).Elem()).Interface()
	without := reflect.New(reflect.TypeOf(params).Elem()).Interface()
	err := safely(func() error {
		return errors.Join(json.Unmarshal(fmt.Appendf(nil, "{%q:\"x\"}", name), with), json.Unmarshal([]byte("{}"), without))
	})
	return err != nil || !reflect.DeepEqual(with, without)
}

// hidesMember tells whether a result of an author's that writes JSON by itself has a member that the guard does not see.
func hidesMember(result mcp.Result, name string) bool {
	if _, ok := result.(json.Marshaler); !ok || hasPlace(result, name) {
		return false
	}
	var members map[string]any
	written, err := json.Marshal(result)
	if err == nil {
		err = json.Unmarshal(written, &members)
	}
	return err != nil || members[name] != nil
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
	return withMemberSet(req, name, func(member reflect.Value) {
		member.SetZero()
		switch {
		case text == nil:
		case member.Kind() == reflect.Pointer:
			member.Set(reflect.ValueOf(text))
		default:
			member.SetString(*text)
		}
	})
}

// withMemberSet returns a copy of a request in which a member of its params is set.
func withMemberSet(req mcp.Request, name string, set func(member reflect.Value)) mcp.Request {
	params := copied(req.GetParams())
	set(memberOf(params, name))
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

// changed returns a result with members set.
func changed(result mcp.Result, set []engine.Change) mcp.Result {
	if len(set) == 0 {
		return result
	}
	made := copied(result).(mcp.Result)
	var rest []engine.Change
	for _, change := range set {
		if member := memberOf(made, change.Path[0]); !member.IsValid() || !put(member, change) {
			rest = append(rest, change)
		}
	}
	if rest == nil {
		return made
	}
	if found, ok := made.(*mcp.DiscoverResult); ok {
		return &changedDiscovery{found, rest}
	}
	return &changedResult{made, rest, nil}
}

// put sets a member of a result, if its type has a place for it.
func put(member reflect.Value, change engine.Change) bool {
	if meta, ok := member.Interface().(mcp.Meta); ok {
		member.Set(reflect.ValueOf(mcp.Meta(withMember(meta, change.Path[1:], change.Value))))
		return true
	}
	if len(change.Path) > 1 {
		// The SDK's type drops what it does not know.
		return false
	}
	// In place, a list would be written over that of the author.
	made := reflect.New(member.Type())
	written, err := json.Marshal(change.Value)
	if err != nil || json.Unmarshal(written, made.Interface()) != nil {
		return false
	}
	member.Set(made.Elem())
	return true
}

// withMember returns a copy of an object in which a member is set: by the names on the way to it.
func withMember(object map[string]any, path []string, value any) map[string]any {
	made := maps.Clone(object)
	if made == nil {
		made = map[string]any{}
	}
	if len(path) > 1 {
		inner, _ := made[path[0]].(map[string]any)
		value = withMember(inner, path[1:], value)
	}
	made[path[0]] = value
	return made
}

// changedResult is a result with members that the SDK's types have no place for.
type changedResult struct {
	mcp.Result
	set  []engine.Change
	meta map[string]any
}

// GetMeta and SetMeta are there because some of the SDK's results have none, and panic.
func (c *changedResult) GetMeta() map[string]any {
	if memberOf(c.Result, "_meta").IsValid() {
		return c.Result.GetMeta()
	}
	return c.meta
}

func (c *changedResult) SetMeta(meta map[string]any) {
	if memberOf(c.Result, "_meta").IsValid() {
		c.Result.SetMeta(meta)
		return
	}
	c.meta = meta
}

func (c *changedResult) MarshalJSON() ([]byte, error) {
	return changedJSON(c.Result, append(metaChanges(c.meta), c.set...))
}

// changedDiscovery is one that the SDK still knows, for it adds a member to it.
type changedDiscovery struct {
	*mcp.DiscoverResult
	set []engine.Change
}

func (c *changedDiscovery) MarshalJSON() ([]byte, error) {
	return changedJSON(c.DiscoverResult, c.set)
}

// metaChanges sets each member of a _meta.
func metaChanges(meta map[string]any) (set []engine.Change) {
	for name, value := range meta {
		set = append(set, engine.Change{Path: []string{"_meta", name}, Value: value})
	}
	return set
}

// changedJSON writes a value with members set.
func changedJSON(of any, set []engine.Change) ([]byte, error) {
	written, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	value, err := decoded(written)
	if err != nil {
		return nil, err
	}
	object, _ := value.(map[string]any)
	for _, change := range set {
		object = withMember(object, change.Path, change.Value)
	}
	return json.Marshal(object)
}

// decoded reads JSON without loss of digits.
func decoded(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return value, decoder.Decode(&value)
}
