package sealwax

import (
	"fmt"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Lifetime is how long a token lives: [TTL] or [NoExpiry]. Without one it is the kind's default: 10 minutes for request
// state, 30 days for self-contained sessions, 24 hours for the rest.
type Lifetime struct {
	ttl      time.Duration
	noExpiry bool
}

// TTL is a lifetime of whole seconds, from 1 to 4,294,967,295.
func TTL(ttl time.Duration) Lifetime { return Lifetime{ttl: ttl} }

// NoExpiry is the lifetime of what lives as long as its key is in the ring.
func NoExpiry() Lifetime { return Lifetime{noExpiry: true} }

// lifetimeOf returns the one that is given, or nil for the default.
func lifetimeOf(given []Lifetime) (*host.Lifetime, error) {
	if len(given) == 0 {
		return nil, nil
	}
	if len(given) > 1 {
		return nil, invalid(ErrInvalidArgument, fmt.Sprintf("lifetime: expected one at most, found %d", len(given)))
	}
	if given[0].noExpiry {
		return &host.Lifetime{NoExpiry: true}, nil
	}
	ttl, err := host.Seconds("ttl", given[0].ttl)
	if err != nil {
		return nil, err
	}
	return &host.Lifetime{TTL: *ttl}, nil
}

// Limit is a limit for what is opened: [MaxAge].
type Limit struct{ maxAge time.Duration }

// MaxAge refuses, as expired, what began longer ago: a token's session, over all its renewals, a session id or a
// handle.
func MaxAge(age time.Duration) Limit { return Limit{age} }

// maxAgeOf returns the one that is given, in seconds, or nil for no limit.
func maxAgeOf(given []Limit) (*uint64, error) {
	if len(given) == 0 {
		return nil, nil
	}
	if len(given) > 1 {
		return nil, invalid(ErrInvalidArgument, fmt.Sprintf("max age: expected one at most, found %d", len(given)))
	}
	return host.Seconds("max age", given[0].maxAge)
}

// unixSeconds returns a time of the format; the zero time for one that never comes.
func unixSeconds(seconds uint64) time.Time {
	if seconds == host.Never {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

func unixMilliseconds(ms uint64) time.Time {
	if ms == host.Never {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}
