package sealwaxmcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// compare holds what happened to what a transcript says. It returns what differs first.
func (w *world) compare(event map[string]any, found *found) error {
	if found.wrong != nil {
		return found.wrong
	}
	reported := append([]any{}, list(event["reported"])...)
	if !equal(reported, found.reported) {
		return fmt.Errorf("reported %s, expected %s", describe(found.reported), describe(reported))
	}
	asked := []string{}
	for _, one := range list(event["asked"]) {
		// Who is anonymous by name is not asked for.
		if event["as"] != "anonymous" || one != "principal" {
			asked = append(asked, text(one))
		}
	}
	if !slices.Equal(asked, found.asked) {
		return fmt.Errorf("asked %v, expected %v", found.asked, asked)
	}
	if anybodys, ok := event["anybodys"]; ok && !equal(anybodys, found.anybodys) {
		return fmt.Errorf("anybodys %v, expected %v", found.anybodys, anybodys)
	}
	if commands, ok := event["commands"]; ok && !equal(commands, found.commands) {
		return fmt.Errorf("commands %v, expected %v", found.commands, commands)
	}
	if happened, ok := event["happened"]; ok && !equal(happened, found.happened) {
		return fmt.Errorf("happened %v, expected %v", found.happened, happened)
	}
	if (event["delivered"] == nil) != (found.delivered == nil) {
		return fmt.Errorf("delivered %s, expected %s", describe(found.delivered), describe(event["delivered"]))
	}
	for name, value := range object(event["delivered"]) {
		if !equal(value, found.delivered[name]) {
			return fmt.Errorf("delivered %s %s, expected %s", name, describe(found.delivered[name]), describe(value))
		}
	}
	did := list(event["did"])
	if len(did) != len(found.did) {
		return fmt.Errorf("did %s, expected %s", describe(found.did), describe(did))
	}
	for i, one := range did {
		if err := w.matches(one, plain(found.did[i]), "did"); err != nil {
			return err
		}
	}
	return w.compareAnswer(event, found)
}

func (w *world) compareAnswer(event map[string]any, found *found) error {
	answered := object(event["answered"])
	if answered == nil {
		if found.answered != nil && event["via"] != "http" {
			return fmt.Errorf("answered %s, expected nothing", describe(found.answered))
		}
		return nil
	}
	expected := object(answered["error"])
	if expected == nil {
		expected = object(object(answered["message"])["error"])
	}
	if expected == nil {
		return w.matches(answered, plain(found.answered), "answered")
	}
	told := object(found.answered["message"])
	if told == nil {
		told = found.answered
	}
	failed := object(told["error"])
	expected = echoed(expected, found.sent)
	if expected["code"] == json.Number("-32601") && failed != nil {
		// The SDK gives this code a text of its own, which names the method (internal/jsonrpc2/conn.go, processResult).
		expected["message"] = failed["message"]
	}
	if !sameMembers(expected, failed) || !sameMembers(object(expected["data"]), object(failed["data"])) {
		return fmt.Errorf("error %s, expected %s", describe(found.answered), describe(expected))
	}
	if err := w.matches(expected, plain(failed), "error"); err != nil {
		return err
	}
	if status, ok := answered["status"]; ok && !equal(status, found.answered["status"]) {
		return fmt.Errorf("status %v, expected %v", found.answered["status"], status)
	}
	return nil
}

func sameMembers(a, b map[string]any) bool {
	for name := range a {
		if _, ok := b[name]; !ok {
			return false
		}
	}
	return len(a) == len(b)
}

// echoed puts in the session id that was sent.
func echoed(failed, sent map[string]any) map[string]any {
	found := maps.Clone(failed)
	if object(failed["data"])["sessionId"] != "$echo" {
		return found
	}
	id := sent["sessionId"]
	if id == nil {
		id = object(object(object(sent["params"])["_meta"])[sessionMetaKey])["sessionId"]
	}
	found["data"] = map[string]any{"sessionId": id}
	return found
}

// plain returns a value as JSON has it.
func plain(value any) any { return must(decoded(jsonOf(value))) }

func equal(a, b any) bool { return reflect.DeepEqual(plain(a), plain(b)) }

// matches fails unless a value has at least what is expected.
func (w *world) matches(expected, value any, place string) error {
	switch expected := expected.(type) {
	case []any:
		values := list(value)
		if len(values) != len(expected) {
			return fmt.Errorf("%s: %s, expected %s", place, describe(value), describe(expected))
		}
		for i, one := range expected {
			if err := w.matches(one, values[i], place); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if token, ok := expected["$token"]; ok {
			return w.matchesToken(token, value, place)
		}
		if _, ok := expected["$session"]; ok {
			return w.matchesSession(expected, value, place)
		}
		if _, ok := expected["$handle"]; ok {
			if _, ok := object(value)["handle"].(string); !ok {
				return fmt.Errorf("%s: %s is no handle", place, describe(value))
			}
			return nil
		}
		// In the same order each time: a token is named where it first comes.
		for _, name := range slices.Sorted(maps.Keys(expected)) {
			member := expected[name]
			if name == "$absent" {
				for _, absent := range list(member) {
					if _, ok := object(value)[text(absent)]; ok {
						return fmt.Errorf("%s.%s is there", place, absent)
					}
				}
				continue
			}
			found, ok := object(value)[name]
			if !ok {
				return fmt.Errorf("%s.%s is missing in %s", place, name, describe(value))
			}
			if err := w.matches(member, found, place+"."+name); err != nil {
				return err
			}
		}
		return nil
	}
	if !equal(expected, value) {
		return fmt.Errorf("%s: %s, expected %s", place, describe(value), describe(expected))
	}
	return nil
}

func (w *world) matchesToken(named, value any, place string) error {
	if name, ok := named.(string); ok {
		if w.tokens[name] != value {
			return fmt.Errorf("%s: another token", place)
		}
		return nil
	}
	expected := object(named)
	as := expected["as"]
	if as == nil {
		as = "alice"
	}
	opened, err := w.sealer(w.view(map[string]any{"as": as, "key": "new"}), expected).Open(text(value))
	if err != nil {
		return fmt.Errorf("%s: %w: %s", place, err, describe(value))
	}
	if name := text(expected["name"]); name != "" {
		w.tokens[name] = text(value)
	}
	if ttl, ok := expected["ttl"]; ok && opened.ExpiresAt().Sub(opened.IssuedAt()) != span(ttl) {
		return fmt.Errorf("%s: lives %v", place, opened.ExpiresAt().Sub(opened.IssuedAt()))
	}
	if members, ok := expected["json"]; ok {
		return w.matches(members, must(decoded(opened.Payload())), place)
	}
	if payload, ok := expected["payload"]; ok && payload != string(opened.Payload()) {
		return fmt.Errorf("%s: holds %s, expected %s", place, opened.Payload(), payload)
	}
	return nil
}

func (w *world) matchesSession(expected map[string]any, value any, place string) error {
	name, metadata := text(expected["$session"]), object(value)
	versions := w.sessions[name]
	if len(versions) > 0 && versions[len(versions)-1]["sessionId"] != metadata["sessionId"] {
		return fmt.Errorf("%s: another session", place)
	}
	if version, ok := expected["version"]; ok {
		if versions[number(version)]["state"] != metadata["state"] {
			return fmt.Errorf("%s: another state", place)
		}
		return nil
	}
	_, has := metadata["state"]
	if payload, ok := expected["payload"]; ok {
		opened, err := w.view(map[string]any{"key": "both"}).Sessions().Open(jsonOf(metadata))
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		if string(opened.Payload()) != payload || uint32(number(expected["generation"])) != opened.Generation() {
			return fmt.Errorf("%s: %s of generation %d, expected %s", place, opened.Payload(), opened.Generation(), describe(expected))
		}
	} else if has && place != "did" {
		return fmt.Errorf("%s: a new state", place)
	}
	if has || len(versions) == 0 {
		w.sessions[name] = append(versions, metadata)
	}
	return nil
}
