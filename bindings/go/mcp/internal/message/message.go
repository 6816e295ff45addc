// Package message reads and changes messages in the types of the SDK, and of authors, by the names of their members in JSON.
package message

import (
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

// SessionHeader is the header that carries a session of the transport.
const SessionHeader = "Mcp-Session-Id"

// sessionMetaKey is the member of _meta that carries the metadata of a session.
const sessionMetaKey = "io.modelcontextprotocol/session"

// noText stands for what is no text: it is not UTF-8.
const noText = "\xff"

// places has, for each type of the SDK's or an author's, where its members are, by their names in JSON.
var places sync.Map

// placeOf returns where a member is in a type that points to a struct.
func placeOf(of reflect.Type, name string) ([]int, bool) {
	if of == nil || of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	found, ok := places.Load(of)
	if !ok {
		index := map[string][]int{}
		for _, field := range reflect.VisibleFields(of.Elem()) {
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

func hasPlace(of any, name string) bool {
	_, ok := placeOf(reflect.TypeOf(of), name)
	return ok
}

// member returns a member of params or a result. It is not valid if there is none.
func member(of any, name string) reflect.Value {
	place, ok := placeOf(reflect.TypeOf(of), name)
	if !ok || reflect.ValueOf(of).IsNil() {
		return reflect.Value{}
	}
	// It fails where an embedded pointer on the way is nil.
	found, _ := reflect.ValueOf(of).Elem().FieldByIndexErr(place)
	return found
}

// HidesParam tells whether a type of an author's that reads JSON by itself keeps a member where the guard does not see it.
func HidesParam(params mcp.Params, name string) (hides bool) {
	if _, ok := params.(json.Unmarshaler); !ok || name == "" || hasPlace(params, name) {
		return false
	}
	// What panics may hide anything.
	defer func() { hides = recover() != nil || hides }()
	with := reflect.New(reflect.TypeOf(params).Elem()).Interface()
	without := reflect.New(reflect.TypeOf(params).Elem()).Interface()
	err := errors.Join(json.Unmarshal(fmt.Appendf(nil, "{%q:\"x\"}", name), with), json.Unmarshal([]byte("{}"), without))
	return err != nil || !reflect.DeepEqual(with, without)
}

// HidesMember tells whether a result of an author's that writes JSON by itself has a member that the guard does not see.
func HidesMember(result mcp.Result, name string) bool {
	if _, ok := result.(json.Marshaler); !ok || name == "" || hasPlace(result, name) {
		return false
	}
	var members map[string]any
	written, err := json.Marshal(result)
	if err == nil {
		err = json.Unmarshal(written, &members)
	}
	return err != nil || members[name] != nil
}

// Text returns a member that is a text, or nil if it is absent: the SDK's types cannot tell that from an empty one.
func Text(of any, name string) *string {
	found := member(of, name)
	if !found.IsValid() || found.IsZero() {
		return nil
	}
	if found.Kind() == reflect.Pointer {
		found = found.Elem()
	}
	text := noText
	if found.Kind() == reflect.String {
		text = found.String()
	}
	return &text
}

// JSON returns a member as JSON: as it came, where the SDK has kept that. It is nil if absent, and no JSON if it cannot be written.
func JSON(of any, name string) []byte {
	found := member(of, name)
	if !found.IsValid() || found.IsZero() {
		return nil
	}
	if raw, ok := found.Interface().(json.RawMessage); ok {
		return raw
	}
	written, err := json.Marshal(found.Interface())
	if err != nil {
		return []byte("?")
	}
	return written
}

// copied returns a copy of what a pointer points to: what the SDK or a handler gave may be shared.
func copied[T any](of T) T {
	value := reflect.ValueOf(of)
	made := reflect.New(value.Elem().Type())
	made.Elem().Set(value.Elem())
	return made.Interface().(T)
}

// with returns a copy of a request in which a member of its params is set.
func with(req mcp.Request, name string, set func(member reflect.Value)) mcp.Request {
	params := copied(req.GetParams())
	set(member(params, name))
	made := copied(req)
	reflect.ValueOf(made).Elem().FieldByName("Params").Set(reflect.ValueOf(params))
	return made
}

// WithText returns a request with another text in a member of its params; nil removes it.
func WithText(req mcp.Request, name string, text *string) mcp.Request {
	return with(req, name, func(member reflect.Value) {
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

// WithChanges returns a request in which members of its params are set.
func WithChanges(req mcp.Request, set []engine.Change) mcp.Request {
	for _, change := range set {
		req = with(req, change.Path[0], func(member reflect.Value) { put(member, change) })
	}
	return req
}

// WithoutResponse returns a request without one of its inputResponses.
func WithoutResponse(req mcp.Request, key string) mcp.Request {
	found := member(req.GetParams(), "inputResponses")
	if !found.IsValid() {
		return req
	}
	given, _ := found.Interface().(mcp.InputResponseMap)
	if _, ok := given[key]; !ok {
		return req
	}
	rest := maps.Clone(given)
	if delete(rest, key); len(rest) == 0 {
		rest = nil
	}
	return with(req, "inputResponses", func(member reflect.Value) { member.Set(reflect.ValueOf(rest)) })
}

// Meta returns the _meta of params.
func Meta(params mcp.Params) map[string]any {
	if params == nil || reflect.ValueOf(params).IsNil() {
		return nil
	}
	return params.GetMeta()
}

// Session returns the session metadata of a message.
func Session(params mcp.Params) *engine.ClientSession {
	metadata, ok := Meta(params)[sessionMetaKey]
	if !ok || metadata == nil {
		return nil
	}
	named, _ := metadata.(map[string]any)
	return &engine.ClientSession{ID: ClientValue(named["sessionId"]), State: ClientValue(named["state"])}
}

// ClientValue returns a client's value as documents take it: a text, true for any other, or nil.
func ClientValue(value any) any {
	if value == nil {
		return nil
	}
	if text, ok := value.(string); ok && utf8.ValidString(text) {
		return text
	}
	return true
}

// Header returns a header as the engine takes it: a text, nil, or true for several.
func Header(header http.Header, name string) any {
	switch values := header.Values(name); len(values) {
	case 0:
		return nil
	case 1:
		return values[0]
	}
	return true
}

// IsToolCall tells whether a request calls a tool.
func IsToolCall(req mcp.Request) bool { _, ok := req.(*mcp.CallToolRequest); return ok }

// modern is the first revision without sessions of the transport.
const modern = "2026-07-28"

// IsModern follows the SDK's own rule, a comparison of texts (shared.go, validateRequestMeta). Its ProtocolVersion panics where a
// method of an author's own comes without params.
func IsModern(req mcp.Request) bool {
	version, _ := Meta(req.GetParams())[mcp.MetaKeyProtocolVersion].(string)
	return version >= modern
}
