package engine

import (
	"errors"
	"strings"
	"sync"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
)

// Memory is a ledger in memory. Goroutines may share it.
type Memory struct {
	machine
	capacity int32
	// turn is held until a ledger that ended is made anew.
	turn sync.Mutex
}

// NewMemory makes a ledger of about `capacity` bytes, which remembers from now on, in Unix seconds.
func NewMemory(capacity int32, now int64) (*Memory, error) {
	m := &Memory{capacity: capacity}
	return m, m.from(now)
}

// from makes it without any record.
func (m *Memory) from(now int64) error {
	return m.renew(frame{kindMemory, 0, []text{number(uint64(uint32(m.capacity))), number(uint64(now))}})
}

// Run runs a command.
func (m *Memory) Run(command *Command, now int64) (reply []string, err error) {
	f := frame{kindRun, 0, []text{document(command), number(uint64(now))}}
	m.turn.Lock()
	defer m.turn.Unlock()
	err = m.on(f, &reply)
	if errors.Is(err, sealwax.ErrInternalError) {
		// Its instance has ended, and all records with it. The next one knows nothing of what was used until now, and a
		// ledger believes to know the second in which it begins.
		_ = m.from(now + 2)
	}
	return reply, err
}

// SQLite is what is said to a file of SQLite: about a command, or about opening it.
type SQLite struct{ machine }

// SQLiteNext is what to do next: one of its members.
type SQLiteNext struct {
	Run []struct {
		SQL   string    `json:"sql"`
		Args  []*string `json:"args"`
		Reads bool      `json:"reads"`
	} `json:"run"`
	Wait   int64    `json:"wait"`
	Done   []string `json:"done"`
	Failed string   `json:"failed"`
}

// BeginSQLite begins what is said about a [Command], or about opening the file.
func BeginSQLite(about any) (*SQLite, *SQLiteNext, error) {
	s, next := &SQLite{}, &SQLiteNext{}
	f := frame{kindSQLite, 0, []text{document(about)}}
	return s, next, host.Do(func(c *host.Call) error { return s.begin(c, 0, f, next) })
}

// On reports what was read, or the error that ended it, and returns what is next.
func (s *SQLite) On(rows []*string, failed error) (*SQLiteNext, error) {
	answer := map[string]any{"rows": append([]*string{}, rows...)}
	if failed != nil {
		answer = map[string]any{"error": strings.ToValidUTF8(failed.Error(), "?")}
	}
	next := &SQLiteNext{}
	return next, s.on(frame{kindEvent, 0, []text{document(answer)}}, next)
}

// Redis is what is known of a Redis between commands.
type Redis struct {
	machine
	// turn is held until what ended is made anew.
	turn sync.Mutex
}

// nothing is what is known of a Redis at first.
var nothing = frame{kind: kindStore, flags: flagWaits}

// NewRedis returns what is known of a Redis: nothing yet. Its client can keep a connection of its own.
func NewRedis() (*Redis, error) {
	r := &Redis{}
	return r, r.renew(nothing)
}

// Plain is how a command is sent without a store machine: Send, the number of keys, keys and arguments; Passes is then the reply.
type Plain struct{ Send, Passes []string }

// Next is what to do next for a command.
type Next struct {
	Send []string `json:"send"`
	Done []string `json:"done"`
	// Load is to send after a check, together.
	Load   [][]string `json:"load"`
	Plain  *Plain     `json:"plain"`
	Unfit  string     `json:"unfit"`
	Failed string     `json:"failed"`
	Warned []string   `json:"warned"`
}

// StoreMachine is what is said to a Redis: for one command, or a check of it.
type StoreMachine struct{ machine }

// Begin begins the store machine about a command; without one, a check.
func (r *Redis) Begin(command *Command) (*StoreMachine, *Next, error) {
	about := raw([]byte("{}"))
	if command != nil {
		about = document(command)
	}
	f := frame{kindStoreMachine, 0, []text{about}}
	r.turn.Lock()
	defer r.turn.Unlock()
	if machine, next, err := r.machineOf(f); err == nil {
		return machine, next, nil
	}
	// The instance may have ended. What was known of the store is found out again.
	if err := r.renew(nothing); err != nil {
		return nil, nil, err
	}
	return r.machineOf(f)
}

func (r *Redis) machineOf(f frame) (*StoreMachine, *Next, error) {
	d, next := &StoreMachine{}, &Next{}
	return d, next, r.do(func(c *host.Call, at host.Ptr) error { return d.begin(c, at, f, next) })
}

// On reports the answer to what was sent, and returns what is next.
func (d *StoreMachine) On(sent any) (*Next, error) {
	next := &Next{}
	return next, d.on(frame{kindEvent, 0, []text{document(sent)}}, next)
}
