package sealwax

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/sealwax/sealwax-go/internal/host"
)

// One byte more than a file of keys may have.
const maxKeysFile = 1<<16 + 1

// ReadKeyRing reads the ring in a file.
func ReadKeyRing(path string) (*KeyRing, error) {
	// Of its full size: growing would leave an unwiped copy behind.
	text := make([]byte, maxKeysFile)
	defer clear(text)
	n, err := readFile(path, text)
	why := ""
	if err != nil {
		why = strings.ToValidUTF8(reason(err).Error(), "?")
	}
	return makeRing(host.RingOfFile(strings.ToValidUTF8(path, "?"), text[:n], why))
}

// readFile reads as much of a file as there is room for.
func readFile(path string, text []byte) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	n, err := io.ReadFull(file, text)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
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
