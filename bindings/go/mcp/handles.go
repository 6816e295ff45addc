package sealwaxmcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/mcp/internal/message"
)

// A HandleOption sets up the handles of a type.
type HandleOption func(*handles) error

// MaxAge ends a handle at that age: a self-contained one after the first of its chain, however often it was renewed. By default
// there is no such limit, but a ledger's 400 days.
func MaxAge(d time.Duration) HandleOption {
	return func(h *handles) error { return seconds(&h.maxAge, "max age", d) }
}

// HandleTTL is how long a self-contained handle lives: 24 hours by default.
func HandleTTL(d time.Duration) HandleOption {
	return func(h *handles) error {
		if !h.selfContained {
			return invalid("TTL: expected handles that hold their state, found reference handles: give these a MaxAge")
		}
		return seconds(&h.ttl, "TTL", d)
	}
}

// SingleUse ends a self-contained handle when it is renewed; opening it does not. It needs a ledger.
func SingleUse() HandleOption {
	return func(h *handles) error {
		if !h.selfContained || h.guard.ledger == nil {
			return invalid("single use: expected a guard with a ledger, and handles that hold their state")
		}
		h.once = true
		return nil
	}
}

// handles are those of one type, the links of one name, or the cursors of one argument.
type handles struct {
	guard         *Guard
	kind          string
	selfContained bool
	ttl, maxAge   *uint64
	once          bool
	list          *string
}

func newHandles[O ~func(*handles) error](g *Guard, kind string, selfContained bool, options []O) (handles, error) {
	h := handles{guard: g, kind: kind, selfContained: selfContained}
	if err := engine.CheckHandleType(kind); err != nil {
		return h, err
	}
	return h, set(&h, options)
}

// set sets up what options are for.
func set[T any, O ~func(*T) error](of *T, options []O) error {
	for _, option := range options {
		if err := option(of); err != nil {
			return err
		}
	}
	return nil
}

func (h *handles) run(ctx context.Context, operation engine.HandleOp, value []byte) (*engine.Step, error) {
	x, err := h.guard.exchangeOf(ctx)
	if err != nil {
		return nil, err
	}
	operation.Type, operation.MaxAge, operation.TTL = h.kind, h.maxAge, h.ttl
	operation.Once, operation.SelfContained = h.once, h.selfContained
	operation.List = h.list
	return x.handle(ctx, operation, value)
}

func (h *handles) end(ctx context.Context, handle string) error {
	_, err := h.run(ctx, engine.HandleOp{Op: "end", Handle: message.ClientValue(handle)}, nil)
	return err
}

// sealing runs an operation that seals a value. With an error, the step is empty.
func (h *handles) sealing(ctx context.Context, operation engine.HandleOp, value any) (*engine.Step, error) {
	written, err := host.JSON("value", value)
	if err != nil {
		return &engine.Step{}, err
	}
	done, err := h.run(ctx, operation, written)
	if err != nil {
		return &engine.Step{}, err
	}
	return done, nil
}

// ReferenceHandles are handles of one type, bound to the user; the server keeps their state in its own store, by the handle's
// ulid.
//
// A handle that is altered, expired, ended or another user's is refused, with a tool result that tells the model to make a new
// one. All agents of a user can use the user's handles.
type ReferenceHandles struct{ handles }

// ReferenceHandle is a handle whose state the server keeps.
type ReferenceHandle struct {
	// Handle is the text for the model.
	Handle string
	// ULID is 32 hex digits, the same for as long as the handle lives.
	ULID string
	// ExpiresAt is its end, such as 2026-11-21T12:00:00Z, to show the model; empty for never.
	ExpiresAt string
}

// ReferenceHandles returns the handles of a type whose state the server keeps. A type is a small letter, then up to 31 small
// letters or digits.
func (g *Guard) ReferenceHandles(kind string, options ...HandleOption) (*ReferenceHandles, error) {
	h, err := newHandles(g, kind, false, options)
	return &ReferenceHandles{h}, err
}

// Mint makes a handle. ctx is the handler's.
func (h *ReferenceHandles) Mint(ctx context.Context) (ReferenceHandle, error) {
	return h.reference(ctx, engine.HandleOp{Op: "mint"})
}

// Check verifies a handle that came back. The error of one that is refused is a [*HandleRefused].
func (h *ReferenceHandles) Check(ctx context.Context, handle string) (ReferenceHandle, error) {
	return h.reference(ctx, engine.HandleOp{Op: "check", Handle: message.ClientValue(handle)})
}

// MintShort makes the short handle of a number of the caller's, such as the key of a row among the caller's own: basket_7_ and 8
// characters, the same each time. It has no end but that of its row. It fails for an anonymous caller.
func (h *ReferenceHandles) MintShort(ctx context.Context, number uint32) (string, error) {
	done, err := h.run(ctx, engine.HandleOp{Op: "mintShort", Number: &number}, nil)
	if err != nil {
		return "", err
	}
	return done.Handle, nil
}

// CheckShort verifies a short handle that came back, and returns its number: look for the row among the caller's own. The error of
// one that is refused is a [*HandleRefused].
func (h *ReferenceHandles) CheckShort(ctx context.Context, handle string) (number uint32, err error) {
	done, err := h.run(ctx, engine.HandleOp{Op: "checkShort", Handle: message.ClientValue(handle)}, nil)
	if err != nil {
		return 0, err
	}
	return read[uint32]("handle", *done.Value)
}

// End verifies a handle and ends it, which needs a ledger. Delete its row yourself.
func (h *ReferenceHandles) End(ctx context.Context, handle string) error {
	return h.end(ctx, handle)
}

func (h *ReferenceHandles) reference(ctx context.Context, operation engine.HandleOp) (ReferenceHandle, error) {
	done, err := h.run(ctx, operation, nil)
	if err != nil {
		return ReferenceHandle{}, err
	}
	return ReferenceHandle{Handle: done.Handle, ULID: done.ID, ExpiresAt: expiry(done)}, nil
}

// SelfContainedHandles are handles of one type that hold a T as JSON, bound to the user; the server keeps nothing.
//
// A handle's state never changes: Renew makes the next handle. The older one keeps its state until it expires; with [SingleUse]
// it is refused once it was renewed.
type SelfContainedHandles[T any] struct{ handles }

// SelfContainedHandle is a handle that holds its state.
type SelfContainedHandle struct {
	// Handle is the text for the model.
	Handle string
	// ExpiresAt is its end, such as 2026-11-21T12:00:00Z, to show the model; empty for never.
	ExpiresAt string
}

// OpenedHandle is an opened handle that holds its state.
type OpenedHandle[T any] struct {
	// Value is the state, as it was sealed.
	Value T
	// ExpiresAt is its end, such as 2026-11-21T12:00:00Z; empty for never.
	ExpiresAt string
	// TokenID is the token's id in hex digits, as the log and [OnEvent] have it.
	TokenID string
	// StartedAt is when the first handle of its chain was made, and IssuedAt when this one was.
	StartedAt, IssuedAt time.Time
	// Generation is the number of handles before it in the chain.
	Generation  uint32
	predecessor *engine.Predecessor
}

// NewSelfContainedHandles returns the handles of a type that hold their state themselves. A type is a small letter, then up to 31
// small letters or digits.
func NewSelfContainedHandles[T any](g *Guard, kind string, options ...HandleOption) (*SelfContainedHandles[T], error) {
	h, err := newHandles(g, kind, true, options)
	return &SelfContainedHandles[T]{h}, err
}

// Seal makes a handle that holds a value. ctx is the handler's.
func (h *SelfContainedHandles[T]) Seal(ctx context.Context, value T) (SelfContainedHandle, error) {
	return h.sealed(ctx, value, nil)
}

// Renew makes the next handle of a chain, which keeps its start and counts its generation. With [SingleUse] a second renewal of
// the same handle is refused.
func (h *SelfContainedHandles[T]) Renew(ctx context.Context, before *OpenedHandle[T], value T) (SelfContainedHandle, error) {
	if before == nil || before.predecessor == nil {
		return SelfContainedHandle{}, invalid("before: expected what Open gave, found another")
	}
	return h.sealed(ctx, value, before.predecessor)
}

func (h *SelfContainedHandles[T]) sealed(ctx context.Context, value T, before *engine.Predecessor) (SelfContainedHandle, error) {
	done, err := h.sealing(ctx, engine.HandleOp{Op: "seal", Predecessor: before}, value)
	return SelfContainedHandle{Handle: done.Handle, ExpiresAt: expiry(done)}, err
}

// Open opens a handle that came back. The error of one that is refused is a [*HandleRefused].
func (h *SelfContainedHandles[T]) Open(ctx context.Context, handle string) (*OpenedHandle[T], error) {
	done, err := h.run(ctx, engine.HandleOp{Op: "open", Handle: message.ClientValue(handle)}, nil)
	if err != nil {
		return nil, err
	}
	value, err := read[T]("handle", *done.Value)
	if err != nil {
		return nil, err
	}
	before := done.Predecessor
	return &OpenedHandle[T]{
		Value: value, ExpiresAt: expiry(done), TokenID: before.ID, StartedAt: time.Unix(before.StartedAt, 0),
		IssuedAt: time.Unix(before.IssuedAt, 0), Generation: before.Generation, predecessor: before,
	}, nil
}

// End opens a handle and ends it, which needs a ledger.
func (h *SelfContainedHandles[T]) End(ctx context.Context, handle string) error {
	return h.end(ctx, handle)
}

// read reads the value that a handle or the like holds.
func read[T any](name, written string) (value T, err error) {
	if json.Unmarshal([]byte(written), &value) != nil {
		err = invalid("value: expected a %T in the %s, found another value", value, name)
	}
	return value, err
}

func expiry(done *engine.Step) string {
	var text string
	// Absent for never.
	_ = json.Unmarshal(done.ExpiresAt, &text)
	return text
}
