// Package ledger records which tokens were used or ended, and which state of a session is the latest.
//
// Pass a ledger to a guard by sealwaxmcp.WithLedger: [Memory] for one process, [SQLite] for one machine, and that of package
// github.com/sealwax/sealwax-go/ledger/goredis for a fleet. LEDGER.md of the project describes the records and the commands;
// the core makes all decisions.
package ledger

import (
	"context"
	"time"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// Command is one for a ledger: its script, keys and arguments are texts.
type Command struct {
	Script string
	Keys   []string
	Args   []string
	// Within is how long an answer may take.
	Within time.Duration
}

// Ledger runs a guard's commands, each in one atomic step, and replies as LEDGER.md says.
type Ledger interface {
	// Run runs a command and returns the reply. Any error refuses the request.
	Run(ctx context.Context, command Command) ([]string, error)
}

// Error is of a store that failed to answer, or that cannot be a ledger. It holds no credential.
type Error struct {
	// Unfit tells that the store would lose records. The message says what to change.
	Unfit   bool
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return "sealwax: ledger: " + e.Message }

// Expected returns what the log says of it.
func (e *Error) Expected() string { return e.Message }

// Memory is a ledger in the memory of this process: neither shared with replicas nor kept on restart. It never drops a live
// record: when it is full it refuses new ones, and one principal fills at most half. Goroutines may share it.
type Memory struct {
	memory *engine.Memory
	now    func() time.Time
}

// A MemoryOption sets up a [Memory].
type MemoryOption func(*memoryOptions)

type memoryOptions struct {
	capacity int32
	now      func() time.Time
}

// Capacity is about how many bytes a [Memory] takes: 64 MiB by default.
func Capacity(bytes int32) MemoryOption {
	return func(o *memoryOptions) { o.capacity = bytes }
}

// Clock is another clock than the system's, for tests.
func Clock(now func() time.Time) MemoryOption {
	return func(o *memoryOptions) { o.now = now }
}

// NewMemory makes a ledger in memory.
func NewMemory(options ...MemoryOption) (*Memory, error) {
	o := memoryOptions{capacity: 64 << 20, now: time.Now}
	for _, option := range options {
		option(&o)
	}
	memory, err := engine.NewMemory(o.capacity, o.now().Unix())
	return &Memory{memory, o.now}, err
}

// Run runs a command.
func (m *Memory) Run(_ context.Context, command Command) ([]string, error) {
	return m.memory.Run(document(command), m.now().Unix())
}

// Local tells that it uses the guard's clock.
func (m *Memory) Local() bool { return true }

func document(command Command) *engine.Command {
	return engine.NewCommand(command.Script, command.Keys, command.Args, command.Within)
}
