package host

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
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
	if bytes.Contains(written, escape) && !isText(reflect.ValueOf(value), 0) {
		return nil, notText(name)
	}
	return written, nil
}

var escape = []byte(`\ufffd`)

// deepest is for what encoding/json leaves out, and which may hold itself.
const deepest = 1000

// isText tells whether all texts that encoding/json writes of a value are UTF-8. What is JSON already may have the escape; what
// writes itself may not, since nobody knows what it replaced.
func isText(value reflect.Value, depth int) bool {
	if !value.IsValid() || value.Type() == reflect.TypeFor[json.RawMessage]() {
		return true
	}
	of := reflect.PointerTo(value.Type())
	if of.Implements(reflect.TypeFor[json.Marshaler]()) || of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		if value.CanAddr() {
			value = value.Addr()
		}
		written, err := json.Marshal(value.Interface())
		// A backslash in a text has another one before it.
		return err == nil && !bytes.Contains(bytes.ReplaceAll(written, []byte(`\\`), nil), escape)
	}
	all := func(one reflect.Value) bool { return depth < deepest && isText(one, depth+1) }
	switch value.Kind() {
	case reflect.String:
		return utf8.ValidString(value.String())
	case reflect.Pointer, reflect.Interface:
		return all(value.Elem())
	case reflect.Slice, reflect.Array, reflect.Map:
		for key, one := range value.Seq2() {
			if !all(key) || !all(one) {
				return false
			}
		}
	case reflect.Struct:
		for field, one := range value.Fields() {
			// An embedded type that is not exported has members, and no value to ask.
			if field.Anonymous && !field.IsExported() || field.IsExported() && field.Tag.Get("json") != "-" && !all(one) {
				return false
			}
		}
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
