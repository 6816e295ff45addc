package sealwax_test

import (
	"errors"
	"fmt"
	"log"

	sealwax "github.com/sealwax/sealwax-go"
)

// A server reads its keys from the environment: sealwax.FromEnv("https://mcp.example.com").
func newCodec() *sealwax.Codec {
	key, err := sealwax.GenerateKey()
	if err != nil {
		log.Fatal(err)
	}
	ring, err := sealwax.NewKeyRing(key)
	if err != nil {
		log.Fatal(err)
	}
	codec, err := sealwax.New(ring, "https://mcp.example.com")
	if err != nil {
		log.Fatal(err)
	}
	return codec
}

func Example() {
	codec := newCodec()
	alice, err := codec.View(sealwax.Subject("alice"))
	if err != nil {
		log.Fatal(err)
	}
	token, err := alice.Cursor("tools/list").Seal([]byte("page 2"))
	if err != nil {
		log.Fatal(err)
	}
	opened, err := alice.Cursor("tools/list").Open(token)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", opened.Payload())

	mallory, err := codec.View(sealwax.Subject("mallory"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = mallory.Cursor("tools/list").Open(token)
	fmt.Println(errors.Is(err, sealwax.ErrPrincipalMismatch), errors.Is(err, sealwax.ErrRefused))
	// Output:
	// page 2
	// true true
}
