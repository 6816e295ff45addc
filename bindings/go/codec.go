package sealwax

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Codec seals and opens the tokens of one service: keys, an audience and limits. Any number of goroutines may share it.
// Its keys may change ([Codec.SetKeys]), and nothing else. Every replica needs the same settings.
type Codec struct {
	*codec
	// Of a file of keys, if it follows one.
	watch *watch
}

// codec is what the watch of a file and views keep, so that they do not keep the Codec.
type codec struct {
	host     *host.Codec
	audience string
	ids      atomic.Pointer[[]string]

	// The views of the last callers: making one takes as long as 64 bytes to seal and open. Another map for other keys:
	// what makes a view keeps it where it looked.
	mutex sync.Mutex
	views map[Principal]*View
}

const keptViews = 64

// New returns a codec. The audience names the service, best by its public address: tokens of one service never open at
// another, even under the same keys.
func New(ring *KeyRing, audience string, options ...Option) (*Codec, error) {
	settings, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	return newCodec(nil, ring, audience, settings)
}

// FromFile returns a codec with the keys in a file, such as a mounted secret, which it follows: it reads the file again
// every 5 seconds, until the codec is collected or closed. Replace the file in one step, as `sealwax keys` does. While
// it is missing or bad, the codec keeps the keys that it has, and says so in the log.
func FromFile(path, audience string, options ...Option) (*Codec, error) {
	settings, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	ring, err := ReadKeyRing(path)
	if err != nil {
		return nil, err
	}
	made, err := newCodec(nil, ring, audience, settings)
	if err == nil {
		made.follow(path, settings)
	}
	return made, err
}

// FromEnv returns a codec with the keys of the environment: those of the file that SEALWAX_KEYS_FILE names, which it
// follows as [FromFile] does, of SEALWAX_KEYS, or derived from SEALWAX_SECRET as [KeyRingFromEnv] does. If none is set, or
// more than one, it is [ErrInvalidKey].
func FromEnv(audience string, options ...Option) (*Codec, error) {
	ring, path, err := keysOfEnv()
	if err != nil {
		return nil, err
	}
	if path != "" {
		return FromFile(path, audience, options...)
	}
	return New(ring, audience, options...)
}

func newCodec(clock *host.Clock, ring *KeyRing, audience string, s settings) (*Codec, error) {
	if ring == nil || ring.ring == nil {
		return nil, invalid(ErrInvalidKey, "keys: expected a KeyRing, found none: is SEALWAX_KEYS set? FromEnv reads it, and SEALWAX_SECRET")
	}
	inner, err := host.NewCodec(ring.ring, audience, s.limits, clock)
	if err != nil {
		return nil, err
	}
	made := &codec{host: inner, audience: audience, views: map[Principal]*View{}}
	made.ids.Store(&ring.ids)
	return &Codec{codec: made}, nil
}

// SetKeys replaces the keys, also of guards with this codec, and reports whether they are others than before.
//
// Views, and requests in progress, keep the keys that they began with: make new views. The old keys are wiped from
// memory when their last view is collected.
func (k *Codec) SetKeys(ring *KeyRing) (changed bool, err error) {
	if k == nil || k.codec == nil {
		return false, unmade("codec")
	}
	if ring == nil || ring.ring == nil {
		return false, invalid(ErrInvalidKey, "keys: expected a KeyRing, found none")
	}
	return k.setKeys(ring)
}

func (k *codec) setKeys(ring *KeyRing) (changed bool, err error) {
	changed, err = k.host.SetKeys(ring.ring)
	if changed {
		k.ids.Store(&ring.ids)
		k.mutex.Lock()
		k.views = map[Principal]*View{}
		k.mutex.Unlock()
	}
	return changed, err
}

// View returns this codec for one principal. Those of the last callers are kept, so call it for each request.
//
// Take the principal from a verified credential, by the same rule in every replica: [PrincipalFromClaims].
func (k *Codec) View(principal Principal) (*View, error) {
	if k == nil || k.codec == nil {
		return nil, unmade("codec")
	}
	k.mutex.Lock()
	views := k.views
	if found, ok := views[principal]; ok {
		k.mutex.Unlock()
		return found, nil
	}
	made := &View{k.codec, k.host.NewView(principal.parts())}
	k.mutex.Unlock()
	if err := made.host.Do(func(*host.Call, host.Ptr) error { return nil }); err != nil {
		return nil, err
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if len(views) >= keptViews {
		clear(views)
	}
	views[principal] = made
	return made, nil
}

// Anonymous returns this codec for nobody in particular: anyone who holds its tokens can use them. It is for servers
// without authentication.
func (k *Codec) Anonymous() (*View, error) { return k.View(Principal{anonymous: true}) }

// Close ends the watch of a file of keys, if there is one. The codec stays valid, with its present keys.
func (k *Codec) Close() error {
	if k != nil && k.watch != nil {
		k.watch.stop()
		<-k.watch.done
	}
	return nil
}

// String returns the audience and the ids of the keys.
func (k *Codec) String() string {
	if k == nil || k.codec == nil {
		return "Codec(none)"
	}
	return k.codec.describe()
}

func (k *codec) describe() string {
	return fmt.Sprintf("Codec(%q, keys %v)", k.audience, *k.ids.Load())
}

// Option is a setting of a codec.
type Option func(*settings) error

type settings struct {
	limits   host.Limits
	interval time.Duration
	logger   *slog.Logger
}

func settingsOf(options []Option) (settings, error) {
	s := settings{interval: 5 * time.Second}
	for _, option := range options {
		if err := option(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// WithPayloadLimit sets the limit of a payload in bytes: 4,096 by default, at most 1 MiB.
func WithPayloadLimit(bytes int) Option {
	return func(s *settings) error {
		if bytes < 0 {
			return invalid(ErrInvalidArgument, fmt.Sprintf("payload limit: expected bytes, found %d", bytes))
		}
		limit := uint64(bytes)
		s.limits.Payload = &limit
		return nil
	}
}

// WithClockTolerance sets by how much the clock of another replica may be ahead: 60 seconds by default, at most 300.
func WithClockTolerance(tolerance time.Duration) Option {
	return func(s *settings) (err error) {
		s.limits.ClockTolerance, err = host.Seconds("clock tolerance", tolerance)
		return err
	}
}

// WithSessionMaxAge sets the maximum age of a data-layer session, however often it is renewed: 30 days by default.
func WithSessionMaxAge(age time.Duration) Option {
	return func(s *settings) (err error) {
		s.limits.SessionMaxAge, err = host.Seconds("session max age", age)
		return err
	}
}

// WithKeysInterval sets how often a file of keys is read: every 5 seconds by default, at most once a day.
func WithKeysInterval(interval time.Duration) Option {
	return func(s *settings) error {
		if interval <= 0 || interval > 24*time.Hour {
			return invalid(ErrInvalidArgument, fmt.Sprintf("keys interval: expected over 0 and at most 24h, found %v", interval))
		}
		s.interval = interval
		return nil
	}
}

// WithLogger sets where a codec tells of changed keys and of a bad file; [slog.Default] by default.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) error { s.logger = logger; return nil }
}

func init() {
	host.CodecOf = func(given any) *host.Codec {
		if k, ok := given.(*Codec); ok && k != nil && k.codec != nil {
			return k.host
		}
		return nil
	}
	host.NewCodecOn = func(clock *host.Clock, ring any, audience string, options any) (any, error) {
		settings, err := settingsOf(options.([]Option))
		if err != nil {
			return nil, err
		}
		return newCodec(clock, ring.(*KeyRing), audience, settings)
	}
}
