package host

import "golang.org/x/crypto/chacha20poly1305"

// cipher is what the module asks of sealwax_host: ChaCha20-Poly1305 (RFC 8439), which is assembly in x/crypto.
type cipher struct {
	memory *[]byte
	// A copy of the body with its tag behind it, as x/crypto has them.
	text []byte
}

const (
	done    = 0
	refused = 1
	tagSize = chacha20poly1305.Overhead
)

func (c *cipher) at(at, n int32) []byte { return (*c.memory)[uint32(at):][:uint32(n):uint32(n)] }

// Xseal encrypts the body in place, and writes the tag.
func (c *cipher) Xseal(key, nonce, ad, adLen, body, bodyLen, tag int32) int32 {
	aead, err := chacha20poly1305.New(c.at(key, chacha20poly1305.KeySize))
	if err != nil {
		return refused
	}
	c.text = append(c.text[:0], c.at(body, bodyLen)...)
	c.text = aead.Seal(c.text[:0], c.at(nonce, chacha20poly1305.NonceSize), c.text, c.at(ad, adLen))
	copy(c.at(body, bodyLen), c.text)
	copy(c.at(tag, tagSize), c.text[bodyLen:])
	return done
}

// Xopen decrypts the body in place. It leaves it as it is if the tag is another: x/crypto would clear it.
func (c *cipher) Xopen(key, nonce, ad, adLen, body, bodyLen, tag int32) int32 {
	aead, err := chacha20poly1305.New(c.at(key, chacha20poly1305.KeySize))
	if err != nil {
		return refused
	}
	c.text = append(append(c.text[:0], c.at(body, bodyLen)...), c.at(tag, tagSize)...)
	opened, err := aead.Open(c.text[:0], c.at(nonce, chacha20poly1305.NonceSize), c.text, c.at(ad, adLen))
	if err != nil {
		return refused
	}
	copy(c.at(body, bodyLen), opened)
	clear(opened)
	return done
}

// Allowed reports why the program may not use the cipher: Go's FIPS 140-only mode.
func allowed() error {
	_, err := chacha20poly1305.New(make([]byte, chacha20poly1305.KeySize))
	return err
}
