package sealwax

import (
	"encoding/json"
	"strings"
	"testing"
)

// What adapters ask about a request: tests/requests.json, for every language.
func TestRequests(t *testing.T) {
	var cases struct {
		TokenFields []struct {
			Method      string
			TokenFields *TokenFields
		}
		Claims []struct {
			Claims    json.RawMessage
			Principal []*string
			Error     string
		}
		Only []struct {
			Arguments, Same json.RawMessage
			Only            []string
			Error           string
		}
	}
	read(t, "tests/requests.json", &cases)
	for _, one := range cases.TokenFields {
		found := must(TokenFieldsOf(one.Method))
		if one.TokenFields == nil || found == nil {
			same(t, one.Method, found == nil, one.TokenFields == nil)
			continue
		}
		one.TokenFields.NeedsCaller = one.TokenFields.Kind == "request-state"
		same(t, one.Method, *found, *one.TokenFields)
	}
	_, err := NewRequestContext("tools/call", "x", json.RawMessage(`{"a":1}`), []string{}...)
	refuses(t, ErrInvalidArgument, err)
	for _, one := range cases.Claims {
		found, err := PrincipalFromClaims(one.Claims)
		if one.Error != "" {
			refuses(t, ErrInvalidArgument, err)
			continue
		}
		same(t, string(one.Claims), must(found, err),
			Principal{issuer: partOf(one.Principal[0]), client: partOf(one.Principal[1]), subject: partOf(one.Principal[2])})
	}
	for _, one := range cases.Only {
		if len(one.Only) == 0 {
			// Without names, all count: Go has no list that is empty and given.
			continue
		}
		found, err := NewRequestContext("tools/call", "x", one.Arguments, one.Only...)
		if one.Error != "" {
			refuses(t, ErrInvalidArgument, err)
			continue
		}
		same(t, string(one.Arguments), must(found, err),
			must(NewRequestContext("tools/call", "x", one.Same)))
	}
	same(t, "cases", len(cases.TokenFields) > 5 && len(cases.Claims) > 5 && len(cases.Only) > 5, true)
}

// What a text says of itself, as every language does: tests/inspect.json.
func TestInspecting(t *testing.T) {
	var cases struct {
		Said []struct {
			Text string
			JSON struct {
				What        string
				Kind        string
				KeyID       string `json:"key_id"`
				TokenID     string `json:"token_id"`
				HandleType  string `json:"handle_type"`
				CreatedAtMs int64  `json:"created_at_ms"`
			}
		}
	}
	read(t, "tests/inspect.json", &cases)
	for _, one := range cases.Said {
		found := must(Inspect(one.Text))
		expected := Inspected{
			What: one.JSON.What, KeyID: one.JSON.KeyID, Kind: one.JSON.Kind, TokenID: one.JSON.TokenID, HandleType: one.JSON.HandleType,
		}
		if one.JSON.CreatedAtMs != 0 {
			expected.CreatedAt = unixMilliseconds(uint64(one.JSON.CreatedAtMs))
		}
		same(t, one.Text, found, expected)
	}
	same(t, "cases", len(cases.Said) > 5, true)
	refuses(t, ErrTooLarge, failure(Inspect(strings.Repeat("x", 1<<21+1))))
	refuses(t, ErrInvalidKey, failure(Inspect(keyText[:len(keyText)-1])))
}
