package host

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// What an author gives as text is UTF-8, or refused before it becomes anything else: encoding/json makes U+FFFD of what is not, and
// two users who differ would be one.

// CheckText fails for texts that are not UTF-8.
func CheckText(name string, texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return notText(name)
		}
	}
	return nil
}

// JSON writes an author's value as JSON. It fails for one with a text that is not UTF-8.
func JSON(name string, value any) ([]byte, error) {
	written, err := json.Marshal(value)
	if err != nil {
		return nil, invalid(fmt.Sprintf("%s: expected a value that JSON can hold, found %T", name, value))
	}
	// encoding/json writes this escape where it replaces bytes, and for no other character.
	if bytes.Contains(written, escape) && escapes(written) > held(reflect.ValueOf(value)) {
		return nil, notText(name)
	}
	return written, nil
}

var escape = []byte(`\ufffd`)

// escapes counts the escapes of U+FFFD in JSON. A backslash in a text has another one before it.
func escapes(text []byte) int {
	return bytes.Count(bytes.ReplaceAll(text, []byte(`\\`), nil), escape)
}

// held counts those that encoding/json takes over from what is JSON already. It finds fewer rather than more: none in what writes
// itself, nor in a struct of which a field may be left out. It goes nowhere that encoding/json does not, which found no cycle.
func held(value reflect.Value) (n int) {
	if !value.IsValid() {
		return 0
	}
	if raw, ok := reflect.TypeAssert[json.RawMessage](value); ok {
		return escapes(raw)
	}
	of := reflect.PointerTo(value.Type())
	if of.Implements(reflect.TypeFor[json.Marshaler]()) || of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return 0
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		return held(value.Elem())
	case reflect.Slice, reflect.Array, reflect.Map:
		for _, one := range value.Seq2() {
			n += held(one)
		}
	case reflect.Struct:
		if !whole(value.Type()) {
			return 0
		}
		for field, one := range value.Fields() {
			if field.IsExported() && field.Tag.Get("json") != "-" {
				n += held(one)
			}
		}
	}
	return n
}

// whole tells that encoding/json writes each exported field of a struct unless it is empty: no other one can hide it.
func whole(of reflect.Type) bool {
	names := map[string]bool{}
	for field := range of.Fields() {
		tag := field.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		// encoding/json takes the field's name where that of the tag is none.
		name = cmp.Or(name, field.Name)
		if field.Anonymous || options != "" && options != "omitempty" || names[name] || names[field.Name] {
			return false
		}
		names[name], names[field.Name] = true, true
	}
	return true
}

func notText(name string) error {
	return invalid(name + ": expected text in UTF-8, found bytes that are none")
}

func invalid(message string) error { return NewError(invalidStatus, invalidCode, message, false) }

const (
	invalidStatus = 10
	invalidCode   = "invalid_argument"
)
