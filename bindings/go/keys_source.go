package sealwax

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/sealwax/sealwax-go/internal/host"
)

// A file is larger than 16 keys and what may be said of them, or it is no file of keys.
const maxKeysFile = 1 << 16

// ReadKeyRing reads the ring in a file.
func ReadKeyRing(path string) (*KeyRing, error) {
	wrong := func(why any) error { return invalid(ErrInvalidKey, fmt.Sprintf("keys file %s: %v", path, why)) }
	// Whoever takes one variable for the other is to find no key in a log.
	if strings.Contains(path, "swk1_") {
		return nil, invalid(ErrInvalidKey, "keys file: expected a path, found the text of a key: that belongs in SEALWAX_KEYS")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, wrong(reason(err))
	}
	defer file.Close()
	// Of its full size: growing would leave an unwiped copy behind.
	text := make([]byte, maxKeysFile+1)
	defer clear(text)
	n, err := io.ReadFull(file, text)
	if err == nil {
		return nil, wrong("expected at most 65,536 bytes, found more")
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, wrong(reason(err))
	}
	ring, err := parseRing(text[:n])
	if told, ok := err.(*Error); ok && told.Code == ErrInvalidKey {
		return nil, wrong(told.Message)
	}
	return ring, err
}

// reason returns what the system says, without the path.
func reason(err error) error {
	if told, ok := err.(*os.PathError); ok {
		return told.Err
	}
	return err
}

// KeyRingFromEnv reads the ring in the environment: in the file that SEALWAX_KEYS_FILE names, in SEALWAX_KEYS, or, by
// [DeriveKey], in SEALWAX_SECRET and SEALWAX_SECRET_FALLBACKS, earlier ones, separated by white space. [FromEnv] also
// follows the file.
func KeyRingFromEnv() (*KeyRing, error) {
	ring, path, err := keysOfEnv()
	if path != "" {
		return ReadKeyRing(path)
	}
	return ring, err
}

// keysOfEnv returns the ring that variables of the environment have, or else the path of its file.
func keysOfEnv() (*KeyRing, string, error) {
	var variables []byte
	for _, name := range []string{"SEALWAX_KEYS", "SEALWAX_KEYS_FILE", "SEALWAX_SECRET", "SEALWAX_SECRET_FALLBACKS"} {
		variables = fmt.Appendf(variables, "%s=%s\x00", name, os.Getenv(name))
	}
	defer clear(variables)
	if !utf8.Valid(variables) {
		return nil, "", invalid(ErrInvalidKey, "SEALWAX_KEYS, SEALWAX_SECRET: expected UTF-8")
	}
	ring, err := makeRing(host.RingOfVariables(variables))
	if err != nil || len(ring.ids) > 0 {
		return ring, "", err
	}
	return nil, os.Getenv("SEALWAX_KEYS_FILE"), nil
}
