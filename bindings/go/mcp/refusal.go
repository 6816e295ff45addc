package sealwaxmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/ledger"
)

// What a ledger says of a handle that is verified, or of a revocation; for [errors.Is]. The first four are refusals.
const (
	// ErrUsed is of one that was used or renewed before.
	ErrUsed sealwax.Code = "used"
	// ErrEnded is of one that was ended.
	ErrEnded sealwax.Code = "ended"
	// ErrRevoked is of one from before its user was signed out.
	ErrRevoked sealwax.Code = "revoked"
	// ErrUnknown is of one that is older than the ledger.
	ErrUnknown sealwax.Code = "unknown"
	// ErrLedgerUnavailable is of a ledger that failed to answer: no refusal, but an error of the server.
	ErrLedgerUnavailable sealwax.Code = "ledger_unavailable"
)

// ErrNoSession is what [Sessions.Of] gives for a request without a session.
var ErrNoSession = invalid("ctx: expected a request in a session, found one without: name what needs one by RequiredTools")

// HandleRefused is the error of a handle that was refused. Returned by a tool, it becomes the fixed answer of the protocol; of
// another method, an error with the same text. A tool may catch it, for example to make a new handle. It unwraps to the reason,
// which is for the log.
type HandleRefused struct {
	reason error
	answer *engine.RPCError
	tool   json.RawMessage
}

// Error returns the fixed answer, so that nothing else is shown to a client.
func (r *HandleRefused) Error() string { return r.answer.Message }

// Unwrap returns the reason, for the log.
func (r *HandleRefused) Unwrap() error { return r.reason }

// LinkRefused is the error of a link that was refused, or that the server failed to open. It unwraps to the reason, which is for
// the log.
type LinkRefused struct {
	// Status is for the browser: 404, or 500 if the fault is the server's.
	Status int
	reason error
}

// Error returns "Not found" or "Internal server error".
func (r *LinkRefused) Error() string {
	if r.Status < http.StatusInternalServerError {
		return "Not found"
	}
	return "Internal server error"
}

// Unwrap returns the reason, for the log.
func (r *LinkRefused) Unwrap() error { return r.reason }

func invalid(format string, found ...any) error {
	return &sealwax.Error{Code: sealwax.ErrInvalidArgument, Message: fmt.Sprintf(format, found...)}
}

// ours returns an error as one of this package. Another one is internal.
func ours(err error) *sealwax.Error {
	var known *sealwax.Error
	if errors.As(err, &known) {
		return known
	}
	return &sealwax.Error{Code: sealwax.ErrInternalError, Message: err.Error()}
}

// errInternal is what a client hears of a failure of the guard itself.
var errInternal = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Internal error"}

// why returns the last refusal of a step as an error.
func why(step *engine.Step) error {
	if len(step.Refused) == 0 {
		return ErrLedgerUnavailable
	}
	last := step.Refused[len(step.Refused)-1]
	// A warning is the client's; anything else is a failure of the server, which must not make a client discard anything.
	return host.NewError(0, last.Code, last.Message, last.Level == "warn")
}

// rpcError returns an error of the engine's as the SDK's.
func rpcError(e *engine.RPCError) error {
	return &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: e.Data}
}

// told tells the engine what a function of the author's, or a ledger, gave, or why it gave nothing.
func told(value any, err error) engine.Told {
	var (
		known *sealwax.Error
		store *ledger.Error
	)
	switch {
	case err == nil:
		return engine.Answer(value)
	case errors.As(err, &store):
		return engine.Told{Wrong: store.Message}
	case errors.As(err, &known):
		return engine.Told{Wrong: known.Message}
	case errors.Is(err, context.DeadlineExceeded):
		return engine.Told{}
	}
	return engine.Told{Threw: named(err)}
}

// named says what failed without what an error says: that may hold a credential.
func named(err error) string {
	var (
		code   syscall.Errno
		lookup *net.DNSError
	)
	switch {
	case errors.As(err, &code):
		return fmt.Sprintf("%s (%T)", code.Error(), err)
	case errors.As(err, &lookup):
		return fmt.Sprintf("no address (%T)", err)
	}
	return fmt.Sprintf("%T", err)
}
