package engine

import (
	"bytes"
	"encoding/json"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
)

// Settings are a guard's.
type Settings struct {
	RequestStateTTL *uint64             `json:"requestStateTtl,omitempty"`
	Only            map[string][]string `json:"only,omitempty"`
	Confirm         map[string]Confirm  `json:"confirm,omitempty"`
	// ConfirmDestructive has a fallback, and no message.
	ConfirmDestructive *Confirm   `json:"confirmDestructive,omitempty"`
	ConfirmTTL         *uint64    `json:"confirmTtl,omitempty"`
	Sessions           *Sessions  `json:"sessions,omitempty"`
	Transport          *Transport `json:"transport,omitempty"`
	Events             bool       `json:"events,omitempty"`
	TimeLimitMs        *int64     `json:"timeLimitMs,omitempty"`
	Ledger             *Ledger    `json:"ledger,omitempty"`
}

// Confirm is of a tool that its user confirms. Without a message the author's function makes the question.
type Confirm struct {
	Message  *string `json:"message,omitempty"`
	Fallback string  `json:"fallback,omitempty"`
}

// Sessions are the settings of data-layer sessions.
type Sessions struct {
	TTL          *uint64 `json:"ttl,omitempty"`
	NoExpiry     bool    `json:"noExpiry,omitempty"`
	HeldByServer bool    `json:"heldByServer,omitempty"`
	// Required is true, or Required.
	Required any `json:"required,omitempty"`
}

// Required names the requests that need a session.
type Required struct {
	Methods []string `json:"methods,omitempty"`
	Tools   []string `json:"tools,omitempty"`
}

// Transport are the settings of a wrapper around HTTP or stdio.
type Transport struct {
	Required bool    `json:"required"`
	TTL      *uint64 `json:"ttl,omitempty"`
	Idle     *uint64 `json:"idle,omitempty"`
	OnLost   string  `json:"onLost,omitempty"`
	SEP1359  bool    `json:"sep1359,omitempty"`
}

// Ledger are the settings of a guard with a ledger.
type Ledger struct {
	Label                string  `json:"label,omitempty"`
	Local                bool    `json:"local,omitempty"`
	ClockTolerance       *uint64 `json:"clockTolerance,omitempty"`
	AcceptIssuedSince    *int64  `json:"acceptIssuedSince,omitempty"`
	ReusableRequestState bool    `json:"reusableRequestState,omitempty"`
}

// Principal is a caller: anonymous alone, or the parts of a principal.
type Principal = host.Principal

// Step is what to do next.
type Step struct {
	Step    string       `json:"step"`
	Name    string       `json:"name"`
	Refused []Refused    `json:"refused"`
	Events  []TokenEvent `json:"events"`
	Members []string     `json:"members"`
	Session *Session     `json:"session"`

	WithinMs uint64   `json:"withinMs"`
	Script   string   `json:"script"`
	Keys     []string `json:"keys"`
	Args     []string `json:"args"`
	// Params are those of elicitation/create, or of a call to confirm.
	Params json.RawMessage `json:"params"`

	Value *string `json:"value"`

	Opened        *string `json:"opened"`
	BuiltinResult *string `json:"builtinResult"`
	Negotiated    *string `json:"negotiated"`
	ID            string  `json:"id"`
	Version       string  `json:"version"`
	AddSessionID  string  `json:"addSessionId"`
	// Report is true, or the name of a member.
	Report any `json:"report"`
	// Whole tells to report the whole result.
	Whole bool `json:"whole"`
	// ExpiresAt is a number of `deliver`, and a text of `done`.
	ExpiresAt json.RawMessage `json:"expiresAt"`

	Set     []Change          `json:"set"`
	Headers map[string]string `json:"headers"`

	Status int             `json:"status"`
	Allow  string          `json:"allow"`
	Error  *RPCError       `json:"error"`
	Done   bool            `json:"done"`
	Tool   json.RawMessage `json:"tool"`
	Result json.RawMessage `json:"result"`

	Handle      string       `json:"handle"`
	Predecessor *Predecessor `json:"predecessor"`
	Principal   *Principal   `json:"principal"`

	// Bytes belong to a step of HTTP or stdio: for the SDK, or for the client. They are nil if there are none.
	Bytes []byte `json:"-"`

	// fields are those of the message, for a step that comes without a document.
	fields TokenFields
}

// Change is a member of a result, or of params, to set, by the names on the way to it.
type Change struct {
	Path  []string
	Value any
}

// UnmarshalJSON reads it as a pair.
func (c *Change) UnmarshalJSON(pair []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(pair))
	// One may have more digits than a float64.
	decoder.UseNumber()
	return decoder.Decode(&[]any{&c.Path, &c.Value})
}

// RPCError is a JSON-RPC error.
type RPCError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Session is an opened data-layer session.
type Session struct {
	ID         string  `json:"id"`
	ULID       string  `json:"ulid"`
	Generation uint32  `json:"generation"`
	Value      *string `json:"value"`
}

// Refused is an entry of the log.
type Refused struct {
	Time         string `json:"time"`
	Level        string `json:"level"`
	Code         string `json:"code"`
	Kind         string `json:"kind"`
	Method       string `json:"method"`
	CustomMethod bool   `json:"customMethod"`
	Target       string `json:"target"`
	ID           string `json:"id"`
	Message      string `json:"message"`
	Line         string `json:"line"`
	Principal
}

// TokenEvent is what happened to a token that was not refused.
type TokenEvent struct {
	Event        string `json:"event"`
	Kind         string `json:"kind"`
	KeyID        string `json:"keyId"`
	ID           string `json:"id"`
	Age          *int64 `json:"age"`
	Method       string `json:"method"`
	CustomMethod bool   `json:"customMethod"`
	Target       string `json:"target"`
	Principal
}

// Fault is a mistake that the adapter found by itself.
type Fault struct {
	Code      string     `json:"code"`
	Kind      string     `json:"kind"`
	Message   string     `json:"message"`
	Method    string     `json:"method,omitempty"`
	Target    *string    `json:"target,omitempty"`
	Principal *Principal `json:"principal,omitempty"`
}

// HandleOp is an operation on a handle, a link, or a cursor in a result.
type HandleOp struct {
	Op            string       `json:"op"`
	Type          string       `json:"type"`
	Handle        any          `json:"handle,omitempty"`
	TTL           *uint64      `json:"ttl,omitempty"`
	MaxAge        *uint64      `json:"maxAge,omitempty"`
	Once          bool         `json:"once,omitempty"`
	SelfContained bool         `json:"selfContained,omitempty"`
	Predecessor   *Predecessor `json:"predecessor,omitempty"`
	Keep          bool         `json:"keep,omitempty"`
	By            *Principal   `json:"by,omitempty"`
	List          *string      `json:"list,omitempty"`
	Number        *uint32      `json:"number,omitempty"`
}

// Predecessor is a self-contained handle that was opened.
type Predecessor struct {
	StartedAt  int64  `json:"startedAt"`
	Generation uint32 `json:"generation"`
	ID         string `json:"id"`
	IssuedAt   int64  `json:"issuedAt"`
	Until      *int64 `json:"until"`
}

// TokenFields are the members of a method's messages that carry a token.
type TokenFields = sealwax.TokenFields

// Told is the answer to a question, as JSON, or why there is none: without that, it is late.
type Told struct {
	Value []byte
	// Threw is what names an error, without its text.
	Threw string
	// Wrong says what is wrong.
	Wrong string
}

// Answer returns an answer. What JSON cannot hold is late.
func Answer(value any) Told {
	written, _ := json.Marshal(value)
	return Told{Value: written}
}

// Command is one of a ledger.
type Command struct {
	Script   string   `json:"script"`
	Keys     []string `json:"keys"`
	Args     []string `json:"args"`
	WithinMs uint64   `json:"withinMs,omitempty"`
}

// NewCommand returns a command. Its lists may be nil.
func NewCommand(script string, keys, args []string, within time.Duration) *Command {
	command := &Command{Script: script, Keys: keys, Args: args, WithinMs: uint64(within.Milliseconds())}
	if keys == nil {
		command.Keys = []string{}
	}
	if args == nil {
		command.Args = []string{}
	}
	return command
}
