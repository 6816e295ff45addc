package sealwax

import (
	"encoding/json"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Principal is an authenticated caller: a subject, a client, or both. Its zero value is nobody, for whom there is no
// view.
//
// An empty part is a mistake, and no absent one: a credential without a user must not become the same user for
// everybody.
type Principal struct {
	issuer, client, subject part
	anonymous               bool
}

// part is a part that may be absent.
type part struct {
	text  string
	given bool
}

// Subject returns the principal of a user.
func Subject(subject string) Principal { return Principal{subject: part{subject, true}} }

// Client returns the principal of a client that acts for itself.
func Client(client string) Principal { return Principal{client: part{client, true}} }

// WithIssuer returns the principal with the issuer of its client and subject.
func (p Principal) WithIssuer(issuer string) Principal {
	p.issuer = part{issuer, true}
	return p
}

// WithClient returns the principal with the client that the user works with.
func (p Principal) WithClient(client string) Principal {
	p.client = part{client, true}
	return p
}

// Issuer returns the issuer, and whether there is one.
func (p Principal) Issuer() (string, bool) { return p.issuer.text, p.issuer.given }

// Client returns the client, and whether there is one.
func (p Principal) Client() (string, bool) { return p.client.text, p.client.given }

// Subject returns the subject, and whether there is one.
func (p Principal) Subject() (string, bool) { return p.subject.text, p.subject.given }

// IsNobody reports whether it has no part: a caller who is not authenticated.
func (p Principal) IsNobody() bool { return p == Principal{} }

func (p Principal) parts() host.Principal {
	return host.Principal{Issuer: p.issuer.pointer(), Client: p.client.pointer(), Subject: p.subject.pointer(), Anonymous: p.anonymous}
}

func (p part) pointer() *string {
	if !p.given {
		return nil
	}
	return &p.text
}

// PrincipalFromClaims returns the principal of the claims of a verified JWT, or of an introspection response: a map, a
// struct, or a [json.RawMessage].
//
// It takes iss and sub, which are required, and client_id, or else azp, if present (RFC 9068 §2.2, RFC 7662 §2.2,
// OpenID Connect Core §2). Every language uses this rule, so that a user is the same principal at every replica.
// [ErrInvalidArgument] if iss or sub is missing, and for a part that is not a text, is empty or is over 1,024 bytes.
func PrincipalFromClaims(claims any) (Principal, error) {
	given, err := host.JSON("claims", claims)
	if err != nil {
		return Principal{}, err
	}
	found, err := written(principalMax, func(c *host.Call, out host.Ptr, limit int32, size host.Ptr) int32 {
		claims, claimsLen := c.Put(given)
		return c.Xsealwax_principal_from_claims(claims, claimsLen, out, limit, size, c.Error())
	})
	if err != nil {
		return Principal{}, err
	}
	var parts host.Principal
	err = json.Unmarshal(found, &parts)
	return principalOf(parts), err
}

func principalOf(parts host.Principal) Principal {
	return Principal{issuer: partOf(parts.Issuer), client: partOf(parts.Client), subject: partOf(parts.Subject)}
}

func partOf(text *string) part {
	if text == nil {
		return part{}
	}
	return part{*text, true}
}

func init() {
	host.PrincipalOf = func(principal any) host.Principal { return principal.(Principal).parts() }
	host.NewPrincipal = func(parts host.Principal) any { return principalOf(parts) }
}
