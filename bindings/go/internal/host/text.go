package host

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	// What comes as JSON may well have this escape.
	if _, isJSON := value.(json.RawMessage); !isJSON && replaced(written) {
		return nil, notText(name)
	}
	return written, nil
}

// replaced tells whether encoding/json put U+FFFD in place of something: it escapes no other character so. A backslash in a text
// has another one before it.
func replaced(written []byte) bool {
	for {
		before, after, found := bytes.Cut(written, []byte(`\ufffd`))
		if !found {
			return false
		}
		if backslashes := len(before) - len(bytes.TrimRight(before, `\`)); backslashes%2 == 0 {
			return true
		}
		written = after
	}
}

func notText(name string) error {
	return invalid(name + ": expected text in UTF-8, found bytes that are none")
}

func invalid(message string) error { return NewError(invalidStatus, invalidCode, message, false) }

const (
	invalidStatus = 10
	invalidCode   = "invalid_argument"
)
