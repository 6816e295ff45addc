package sealwax

import (
	"fmt"
	"io"
	"os"
	"strings"
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

// KeyRingFromEnv reads the ring in the environment: in the file that SEALWAX_KEYS_FILE names, or else in SEALWAX_KEYS.
// [FromEnv] also follows the file.
func KeyRingFromEnv() (*KeyRing, error) {
	path, err := keysFileOfEnv()
	if err != nil {
		return nil, err
	}
	if path != "" {
		return ReadKeyRing(path)
	}
	return ParseKeyRing(os.Getenv("SEALWAX_KEYS"))
}

// keysFileOfEnv returns the path in SEALWAX_KEYS_FILE, or an empty one if SEALWAX_KEYS has the keys.
func keysFileOfEnv() (string, error) {
	path, text := os.Getenv("SEALWAX_KEYS_FILE"), os.Getenv("SEALWAX_KEYS")
	switch {
	case path != "" && text != "":
		return "", invalid(ErrInvalidKey, "expected SEALWAX_KEYS or SEALWAX_KEYS_FILE, found both: remove one")
	case path == "" && text == "":
		return "", invalid(ErrInvalidKey, "SEALWAX_KEYS is not set, nor is SEALWAX_KEYS_FILE: "+
			"`sealwax keygen`, `npx sealwax keygen` or `python -m sealwax keygen` makes a key")
	}
	return path, nil
}
