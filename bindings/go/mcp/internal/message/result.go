package message

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// Facts returns what the engine asks of a result.
func Facts(result mcp.Result, fields *engine.TokenFields) engine.Facts {
	facts := engine.Facts{
		CacheScope: Text(result, "cacheScope"), HasTTL: member(result, "ttlMs").IsValid(), Token: Text(result, fields.Result),
	}
	if asks, ok := result.(interface{ NeedsInput() bool }); ok && asks.NeedsInput() {
		// The SDK keeps this member to itself.
		kind := "input_required"
		facts.ResultType = &kind
	}
	return facts
}

// Result is one that the SDK has no type for. The SDK adds to its _meta.
type Result struct {
	mcp.ResultBase
	members map[string]any
}

// ResultOf returns the result of a document.
func ResultOf(document []byte) (*Result, error) {
	members, err := decoded(document)
	return resultOf(members), err
}

// CompleteResultOf returns the result of a document, which says that it is complete if the request wants to know.
func CompleteResultOf(document []byte, req mcp.Request) (*Result, error) {
	members, err := decoded(document)
	if IsModern(req) {
		members = withMember(members, []string{"resultType"}, "complete")
	}
	return resultOf(members), err
}

func resultOf(members map[string]any) *Result {
	meta, _ := members["_meta"].(map[string]any)
	return &Result{mcp.ResultBase{Meta: meta}, members}
}

// MarshalJSON writes the members, with the present _meta.
func (r *Result) MarshalJSON() ([]byte, error) {
	if len(r.Meta) == 0 {
		return json.Marshal(r.members)
	}
	return json.Marshal(withMember(r.members, []string{"_meta"}, r.Meta))
}

// Changed returns a result with members set: of the same type, unless that has no place for one of them.
func Changed(result mcp.Result, set []engine.Change, req mcp.Request) (mcp.Result, error) {
	if len(set) == 0 {
		return result, nil
	}
	made := copied(result)
	var rest []engine.Change
	for _, change := range set {
		if !put(member(made, change.Path[0]), change) {
			rest = append(rest, change)
		}
	}
	if rest == nil {
		return made, nil
	}
	if IsModern(req) {
		// In a type of its own, the SDK would set it.
		put(member(made, "resultType"), engine.Change{Path: []string{"resultType"}, Value: "complete"})
	}
	written, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	members, err := decoded(written)
	for _, change := range rest {
		members = withMember(members, change.Path, change.Value)
	}
	return resultOf(members), err
}

// put sets a member, if its type has a place for it.
func put(member reflect.Value, change engine.Change) bool {
	if !member.IsValid() {
		return false
	}
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

// decoded reads an object without loss of digits.
func decoded(text []byte) (object map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return object, decoder.Decode(&object)
}
