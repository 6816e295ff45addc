package sealwax

import "github.com/sealwax/sealwax-go/internal/host"

// The largest sizes of what functions return (sealwax.h).
const (
	sessionIDLen   = 64
	handleMax      = 75
	answerMax      = 4096
	tokenFieldsMax = 256
	principalMax   = 20480
)

// written calls a function that writes at most limit bytes, in any pooled instance.
func written(limit int, write func(c *host.Call, out host.Ptr, limit int32, size host.Ptr) int32) (found []byte, err error) {
	err = host.Do(func(c *host.Call) error {
		found, err = c.Written(limit, func(out host.Ptr, limit int32, size host.Ptr) int32 { return write(c, out, limit, size) })
		return err
	})
	return found, err
}
