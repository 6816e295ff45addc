package host

import "errors"

// What package sealwax has and this one needs. It sets them when it is initialized.
var (
	// NewError returns an *sealwax.Error; refused tells whether it is a refusal of a token.
	NewError = func(_ int32, code, message string, _ bool) error { return errors.New(code + ": " + message) }
	// CodecOf returns what is within a *sealwax.Codec; nil for its zero value.
	CodecOf func(codec any) *Codec
	// PrincipalOf returns what is within a sealwax.Principal, and NewPrincipal makes one of its parts.
	PrincipalOf  func(principal any) Principal
	NewPrincipal func(parts Principal) (principal any)
	// NewCodecOn makes a *sealwax.Codec on a clock, of the arguments of sealwax.New.
	NewCodecOn func(clock *Clock, ring any, audience string, options any) (codec any, err error)
)

// What a trap gives, where the module can no longer be asked.
const (
	internalStatus = 31
	internalCode   = "internal_error"
)

func fault() error {
	return NewError(internalStatus, internalCode, "a fault in sealwax itself; please report it", false)
}

// StatusOf returns the status of a code; that of a fault for an unknown one.
func StatusOf(code string) int32 {
	found := int32(internalStatus)
	_ = Do(func(c *Call) error {
		// They are grouped in tens, and never change their meaning.
		for status := int32(10); code != internalCode && status < 100; status++ {
			if c.CString(c.Xsealwax_code(status)) == code {
				found = status
				return nil
			}
		}
		return nil
	})
	return found
}
