package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/securecookie"

	sealwax "github.com/sealwax/sealwax-go"
)

const (
	ttl      = 10 * time.Minute
	audience = "https://mcp.example.com"
	issuer   = "https://idp.example.com"
	client   = "cli-7"
	subject  = "alice"
	method   = "tools/call"
	target   = "save_note"
)

// As a model writes them, in the order of the tool's schema, and as they are to be hashed, in the order of their names.
var (
	arguments = json.RawMessage(`{"path":"projects/sealwax/meeting-notes.md","title":"Meeting of Tuesday",` +
		`"content":"Decide on the release; ask Alice for the figures.","tags":["work","release"],"pinned":true,"revision":41,` +
		`"reason":"the user asked for it"}`)
	sorted = json.RawMessage(`{"content":"Decide on the release; ask Alice for the figures.",` +
		`"path":"projects/sealwax/meeting-notes.md","pinned":true,"reason":"the user asked for it","revision":41,` +
		`"tags":["work","release"],"title":"Meeting of Tuesday"}`)
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// peer seals and opens a payload, and checks all that it bound.
type peer interface {
	name() string
	seal(payload string) string
	open(token string) string
}

// ours works as a server does: the principal's view and the request's context serve a whole request.
type ours struct {
	codec  *sealwax.Codec
	sealer sealwax.Sealer
}

func newOurs(keys int) *ours {
	held := make([]*sealwax.Key, keys)
	for n := range held {
		held[n] = must(sealwax.GenerateKey())
	}
	made := &ours{codec: must(sealwax.New(must(sealwax.NewKeyRing(held...)), audience))}
	made.sealer = made.ofRequest()
	return made
}

var user = sealwax.Subject(subject).WithClient(client).WithIssuer(issuer)

func (o *ours) view() *sealwax.View { return must(o.codec.View(user)) }

func (o *ours) ofRequest() sealwax.Sealer {
	return o.view().RequestState(must(sealwax.NewRequestContext(method, target, arguments)))
}

// Our token with all that it is bound to computed beforehand.
func (*ours) name() string { return "token-alone" }

func (o *ours) seal(payload string) string { return must(o.sealer.Seal([]byte(payload))) }

func (o *ours) open(token string) string { return string(must(o.sealer.Open(token)).Payload()) }

// With nothing computed beforehand.
func (o *ours) sealRequest(payload string) string { return must(o.ofRequest().Seal([]byte(payload))) }

func (o *ours) openRequest(token string) string {
	return string(must(o.ofRequest().Open(token)).Payload())
}

func random(size int) []byte {
	made := make([]byte, size)
	_, _ = rand.Read(made)
	return made
}

// cookies are AES-256-CTR and HMAC-SHA-256. It binds the user and the request, as ours does.
type cookies struct {
	codec *securecookie.SecureCookie
	bound string
}

type held struct{ Bound, Payload string }

func newCookies() *cookies {
	made := securecookie.New(random(32), random(32)).MaxAge(int(ttl.Seconds())).MaxLength(0).SetSerializer(securecookie.JSONEncoder{})
	context := must(sealwax.NewRequestContext(method, target, arguments))
	return &cookies{made, issuer + " " + client + " " + subject + " " + context.String()}
}

func (*cookies) name() string { return "securecookie" }

func (c *cookies) seal(payload string) string {
	return must(c.codec.Encode("state", held{c.bound, payload}))
}

func (c *cookies) open(token string) string {
	var found held
	if err := c.codec.Decode("state", token, &found); err != nil {
		panic(err)
	}
	if found.Bound != c.bound {
		panic(errors.New("bound to something else"))
	}
	return found.Payload
}

// signed is a JWT, signed with HMAC-SHA-256: anyone can read it.
type signed struct {
	key    []byte
	bound  string
	parser *jwt.Parser
}

type claims struct {
	jwt.RegisteredClaims
	Client  string `json:"client_id"`
	Bound   string `json:"bound"`
	Payload string `json:"payload"`
}

func newSigned() *signed {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithIssuer(issuer), jwt.WithAudience(audience),
		jwt.WithSubject(subject), jwt.WithExpirationRequired())
	return &signed{random(32), must(sealwax.NewRequestContext(method, target, arguments)).String(), parser}
}

func (*signed) name() string { return "golang-jwt" }

func (s *signed) seal(payload string) string {
	now := time.Now()
	return must(jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		jwt.RegisteredClaims{
			Issuer: issuer, Subject: subject, Audience: jwt.ClaimStrings{audience},
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
		}, client, s.bound, payload,
	}).SignedString(s.key))
}

func (s *signed) open(token string) string {
	var found claims
	_ = must(s.parser.ParseWithClaims(token, &found, func(*jwt.Token) (any, error) { return s.key, nil }))
	if found.Client != client || found.Bound != s.bound {
		panic(errors.New("bound to something else"))
	}
	return found.Payload
}
