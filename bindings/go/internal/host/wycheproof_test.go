package host

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// Project Wycheproof's ChaCha20-Poly1305, through the cipher as the module calls it. WYCHEPROOF names the file:
// tests/assurance/wycheproof has it from the crate of that name.
func TestWycheproof(t *testing.T) {
	path := os.Getenv("WYCHEPROOF")
	if path == "" {
		t.Skip("WYCHEPROOF is not set")
	}
	text := must(os.ReadFile(path))
	type vector struct {
		TcID                               int
		Key, Iv, Aad, Msg, Ct, Tag, Result string
	}
	var set struct {
		TestGroups []struct{ Tests []vector }
	}
	ok(t, json.Unmarshal(text, &set))
	memory := make([]byte, 1<<16)
	host := cipher{memory: &memory}
	// Where the arguments of a call lie in the memory, and the size of each.
	put := func(at int, hexed string) (int32, int32) {
		data := must(hex.DecodeString(hexed))
		copy(memory[at:], data)
		return int32(at), int32(len(data))
	}
	valid, invalid, otherNonces := 0, 0, 0
	for _, group := range set.TestGroups {
		for _, v := range group.Tests {
			key, _ := put(0, v.Key)
			nonce, nonceLen := put(64, v.Iv)
			if nonceLen != 12 {
				otherNonces++
				continue
			}
			ad, adLen := put(1<<14, v.Aad)
			body, bodyLen := put(1<<15, v.Ct)
			tag, _ := put(128, v.Tag)
			sealed := bytes.Clone(memory[body:][:bodyLen])
			given := bytes.Clone(memory[tag:][:tagSize])
			status := host.Xopen(key, nonce, ad, adLen, body, bodyLen, tag)
			found := bytes.Clone(memory[body:][:bodyLen])
			put(1<<15, v.Msg)
			plain := bytes.Clone(memory[body:][:bodyLen])
			host.Xseal(key, nonce, ad, adLen, body, bodyLen, tag)
			isTag := bytes.Equal(memory[tag:][:tagSize], given)
			if v.Result == "valid" {
				valid++
				if status != done || !bytes.Equal(found, plain) || !isTag || !bytes.Equal(memory[body:][:bodyLen], sealed) {
					t.Errorf("%d: expected that it is sealed and opened", v.TcID)
				}
				continue
			}
			invalid++
			if status != refused || !bytes.Equal(found, sealed) || isTag {
				t.Errorf("%d: expected a refusal that leaves the body", v.TcID)
			}
		}
	}
	if valid != 256 || invalid != 60 || otherNonces != 9 {
		t.Errorf("expected 256, 60, 9, found %d, %d, %d", valid, invalid, otherNonces)
	}
}
