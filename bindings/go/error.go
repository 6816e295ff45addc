package sealwax

import (
	"errors"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Code is the reason of an error, the same in every language and every release. A code is an error itself, for
// [errors.Is].
type Code string

// Mistakes and failures on the server's side.
const (
	// ErrInvalidArgument is the caller's own mistake; the message says what was expected.
	ErrInvalidArgument Code = "invalid_argument"
	// ErrInvalidKey is a key text or a ring that cannot be used.
	ErrInvalidKey Code = "invalid_key"
	// ErrEntropyUnavailable tells that the system gave no randomness, so nothing was sealed.
	ErrEntropyUnavailable Code = "entropy_unavailable"
	// ErrInternalError is a fault in sealwax itself.
	ErrInternalError Code = "internal_error"
)

// Refusals of a token: each of them is [ErrRefused] too.
const (
	// ErrTooLarge is a token, or a payload, over its limit.
	ErrTooLarge Code = "too_large"
	// ErrUnsupported is a later version of the format, or a kind of token that version 1 does not define.
	ErrUnsupported Code = "unsupported"
	// ErrMalformed is no token of this format, or not in its one valid spelling.
	ErrMalformed Code = "malformed"
	// ErrWrongPurpose is a token of another kind, or a handle of another type, than asked for.
	ErrWrongPurpose Code = "wrong_purpose"
	// ErrUnknownKey is sealed under a key that the ring does not hold: retired, or never known here.
	ErrUnknownKey Code = "unknown_key"
	// ErrUnauthentic is forged, altered, or bound to something else; these cannot be told apart.
	ErrUnauthentic Code = "unauthentic"
	// ErrPrincipalMismatch is authentic, but issued to somebody else.
	ErrPrincipalMismatch Code = "principal_mismatch"
	// ErrNotYetValid is issued further in the future than the allowed clock tolerance.
	ErrNotYetValid Code = "not_yet_valid"
	// ErrExpired is past its own lifetime or the given maximum age.
	ErrExpired Code = "expired"
)

// Error returns the code.
func (c Code) Error() string { return string(c) }

// ErrRefused is every refusal of a token, as opposed to a mistake or a failure on the server's side. Only a refusal may
// make a client discard its session.
var ErrRefused = errors.New("refused")

// Error is the reason why something failed: for the server's log, never for the client, who gets a fixed answer
// ([AnswerTo]). It holds no key, no token and no payload.
type Error struct {
	Code Code
	// Message says what was expected and what was found.
	Message string

	status  int32
	refused bool
}

// Error returns the code and the message.
func (e *Error) Error() string { return "sealwax: " + string(e.Code) + ": " + e.Message }

// Unwrap returns the code.
func (e *Error) Unwrap() error { return e.Code }

// Is reports whether a refusal is [ErrRefused].
func (e *Error) Is(target error) bool { return target == ErrRefused && e.refused }

func init() {
	host.NewError = func(status int32, code, message string, refused bool) error {
		return &Error{Code(code), message, status, refused}
	}
}

// invalid returns a mistake of the caller that the core does not see.
func invalid(code Code, message string) error {
	status := int32(statusInvalidArgument)
	if code == ErrInvalidKey {
		status = statusInvalidKey
	}
	return &Error{Code: code, Message: message, status: status}
}

const (
	statusInvalidArgument = 10
	statusInvalidKey      = 20
	statusInternalError   = 31
)

// unmade is the error of a zero value: it has no keys.
func unmade(what string) error {
	return invalid(ErrInvalidArgument, what+": expected one that was made by a function of this package, found a zero value")
}
