package engine

import (
	"encoding/json"
	"errors"
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

// LedgerText returns a script or statement for a store.
func LedgerText(name string) (text string, err error) {
	return text, host.Do(func(c *host.Call) error {
		at, size := c.Text(name)
		out := c.Room(8)
		if err := c.Check(c.Xsealwax_ledger_text(at, size, out, out+4, c.Error())); err != nil {
			return err
		}
		text = c.String(c.Ptr(out), c.Uint32(out+4))
		return nil
	})
}

// Judgement is the outcome of a command in a store's transaction.
type Judgement struct {
	Reply  []string `json:"reply"`
	Writes []struct {
		Key   string  `json:"key"`
		Value *string `json:"value"`
		Until *int64  `json:"until"`
	} `json:"writes"`
}

// Judge judges a command in a store's transaction: now is the store's own clock in Unix seconds, values those of the keys.
func Judge(command *Command, now int64, values []*string) (*Judgement, error) {
	written, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	had, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	judged := &Judgement{}
	return judged, host.Do(func(c *host.Call) error {
		text, size := c.Put(written)
		before, beforeLen := c.Put(had)
		// The reply is at most as long as the stored values and the command, plus a few numbers.
		found, err := c.Written(2*(len(written)+len(had)+4096), func(out host.Ptr, limit int32, length host.Ptr) int32 {
			return c.Xsealwax_ledger_judge(text, size, now, before, beforeLen, out, limit, length, c.Error())
		})
		if err != nil {
			return err
		}
		return json.Unmarshal(found, judged)
	})
}

// Redis is what is known of a Redis between commands.
type Redis struct {
	machine
	nothing frame
	// turn is held until what ended is made anew.
	turn sync.Mutex
}

// NewRedis returns what is known of a Redis: nothing yet. waits says whether its client can keep a connection of its own.
func NewRedis(waits bool) (*Redis, error) {
	r := &Redis{nothing: frame{kind: kindStore, flags: flagIf(waits, flagWaits)}}
	return r, r.renew(r.nothing)
}

// Next is what to do next for a command.
type Next struct {
	Send   []string `json:"send"`
	Own    bool     `json:"own"`
	Done   []string `json:"done"`
	Plain  string   `json:"plain"`
	Unfit  string   `json:"unfit"`
	Failed string   `json:"failed"`
	Warned []string `json:"warned"`
}

// Dialogue is what is said to a Redis for one command.
type Dialogue struct{ machine }

// Begin begins the dialogue about a command.
func (r *Redis) Begin(command *Command) (*Dialogue, *Next, error) {
	f := frame{kindDialogue, 0, []text{document(command)}}
	r.turn.Lock()
	defer r.turn.Unlock()
	if dialogue, next, err := r.dialogue(f); err == nil {
		return dialogue, next, nil
	}
	// The instance may have ended. What was known of the store is found out again.
	if err := r.renew(r.nothing); err != nil {
		return nil, nil, err
	}
	return r.dialogue(f)
}

func (r *Redis) dialogue(f frame) (*Dialogue, *Next, error) {
	d, next := &Dialogue{}, &Next{}
	return d, next, r.do(func(c *host.Call, at host.Ptr) error { return d.begin(c, at, f, next) })
}

// On reports the answer to what was sent, and returns what is next.
func (d *Dialogue) On(sent any) (*Next, error) {
	next := &Next{}
	return next, d.on(frame{kindEvent, 0, []text{document(sent)}}, next)
}
