package host

import "errors"

// What package sealwax has and this one needs. It sets them when it is initialized.
var (
	// NewError returns an *sealwax.Error.
	NewError = func(_ int32, code, message string) error { return errors.New(code + ": " + message) }
	// CodecOf returns what is within a *sealwax.Codec; nil for its zero value.
	CodecOf func(codec any) *Codec
)

// What a trap gives, where the module can no longer be asked.
const (
	internalStatus = 31
	internalCode   = "internal_error"
)

func fault() error {
	return NewError(internalStatus, internalCode, "a fault in sealwax itself; please report it")
}
