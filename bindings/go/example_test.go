package sealwax_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
)

// A server reads its keys from the environment: sealwax.FromEnv("https://mcp.example.com").
func newCodec() *sealwax.Codec { return must(sealwax.New(newRing(), "https://mcp.example.com")) }

func newRing() *sealwax.KeyRing { return must(sealwax.NewKeyRing(must(sealwax.GenerateKey()))) }

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
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

// view returns alice's, as a server does for each request.
func view(codec *sealwax.Codec) *sealwax.View { return must(codec.View(sealwax.Subject("alice"))) }

func ExampleCodec_SetKeys() {
	codec := newCodec()
	token := must(view(codec).Session().Seal([]byte("kept")))
	changed, err := codec.SetKeys(newRing()) // and not the old one
	fmt.Println(changed, err)
	_, err = view(codec).Session().Open(token)
	fmt.Println(errors.Is(err, sealwax.ErrUnknownKey))
	// Output:
	// true <nil>
	// true
}

func ExampleNewRequestContext() {
	asked := must(sealwax.NewRequestContext("tools/call", "delete_note", json.RawMessage(`{"id": 7}`)))
	again := must(sealwax.NewRequestContext("tools/call", "delete_note", json.RawMessage(`{"id":7.0}`)))
	fmt.Println(asked == again)
	_, err := sealwax.NewRequestContext("tools/call", "delete_note", json.RawMessage(`{"id":7,"id":8}`))
	fmt.Println(errors.Is(err, sealwax.ErrInvalidArgument))
	// Output:
	// true
	// true
}

func ExampleSessions() {
	sessions := view(newCodec()).Sessions(sealwax.TTL(time.Hour))
	created := must(sessions.Create([]byte("language=en"))) // the result of sessions/create
	sent := must(json.Marshal(created))
	session := must(sessions.Open(sent)) // the client sent it back in _meta
	renewed, err := sessions.Renew(session, []byte("language=go"))
	fmt.Println(string(session.Payload()), renewed.SessionID == created.SessionID, err)
	// Output: language=en true <nil>
}

func ExampleAnswerTo() {
	_, refused := view(newCodec()).Cursor("tools/list").Open("sw1.forged")
	fmt.Println(errors.Is(refused, sealwax.ErrMalformed)) // for the log
	answer, err := sealwax.AnswerTo(sealwax.ProfileCursor, refused, "")
	fmt.Println(answer.Error.Code, answer.Error.Message, err) // for the client
	// Output:
	// true
	// -32602 Invalid cursor <nil>
}

func ExamplePrincipalFromClaims() {
	claims := map[string]any{"iss": "https://idp.example.com", "sub": "alice", "azp": "cli-7"}
	principal, err := sealwax.PrincipalFromClaims(claims)
	fmt.Println(principal == sealwax.Subject("alice").WithClient("cli-7").WithIssuer("https://idp.example.com"), err)
	// Output: true <nil>
}

func ExampleInspect() {
	token := must(view(newCodec()).HandleState("basket").Seal(nil))
	found, err := sealwax.Inspect(token)
	fmt.Println(found.What, found.Kind, len(found.KeyID), err)
	// Output: token handle-state 8 <nil>
}
