package host

import (
	"bytes"
	"testing"
)

const key = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"

func newCodec(t *testing.T) *Codec {
	t.Helper()
	codec, err := NewCodec(RingOf([]byte(key)), "https://mcp.example.com", Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

func TestSealing(t *testing.T) {
	codec := newCodec(t)
	alice := "alice"
	view := codec.NewView(Principal{Subject: &alice})
	err := Do(func(c *Call) error {
		at, err := view.At(c)
		if err != nil {
			return err
		}
		purpose := c.Room(28)
		c.View(purpose, 4)[0] = 3
		payload, size := c.Put([]byte("payload"))
		token, err := c.Written(codec.TokenLimit, func(out Ptr, limit int32, written Ptr) int32 {
			return c.Xsealwax_seal(at, purpose, 0, payload, size, out, limit, written, c.Error())
		})
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(token, []byte("sw1.")) {
			t.Errorf("%s", token)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestATrapEndsAnInstance(t *testing.T) {
	codec := newCodec(t)
	for range 3 {
		err := Do(func(c *Call) error {
			c.Xsealwax_codec_free(-8)
			return nil
		})
		if err == nil || err.Error() != "internal_error: a fault in sealwax itself; please report it" {
			t.Fatal(err)
		}
		if err := Do(func(c *Call) error { _, err := codec.At(c); return err }); err != nil {
			t.Fatal(err)
		}
	}
}
