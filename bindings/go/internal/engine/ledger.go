package engine

import (
	"encoding/json"
	"errors"
	"sync"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/internal/module"
)

// Memory is a ledger in memory, in one instance of the module. Goroutines may share it.
type Memory struct {
	capacity int32
	mu       sync.Mutex
	owned    *host.Owned
}

// NewMemory makes a ledger of about `capacity` bytes, which remembers from now on, in Unix seconds.
func NewMemory(capacity int32, now int64) (*Memory, error) {
	m := &Memory{capacity: capacity}
	return m, m.begin(now)
}

func (m *Memory) begin(now int64) error {
	return host.Do(func(c *host.Call) error {
		out := c.Room(4)
		at, err := made(c, out, c.Xsealwax_memory_new(m.capacity, now, out, c.Error()))
		if err == nil {
			m.owned = c.Own(at, (*module.Module).Xsealwax_memory_free)
		}
		return err
	})
}

// Run runs a command.
func (m *Memory) Run(command *Command, now int64) (reply []string, err error) {
	written, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	err = m.owned.Do(func(c *host.Call, at host.Ptr) error {
		text, size := c.Put(written)
		out := newOutputs(c)
		if err := c.Check(c.Xsealwax_memory_run(at, text, size, now, out.text, out.size, c.Error())); err != nil {
			return err
		}
		return json.Unmarshal(c.View(c.Ptr(out.text), c.Uint32(out.size)), &reply)
	})
	if errors.Is(err, sealwax.ErrInternalError) {
		// Its instance has ended, and all records with it. The next one knows nothing of what was used until now, and a
		// ledger believes to know the second in which it begins.
		_ = m.begin(now + 2)
	}
	return reply, err
}

// LedgerText returns a script or statement for a store.
func LedgerText(name string) (text string, err error) {
	return text, host.Do(func(c *host.Call) error {
		at, size := c.Text(name)
		out := newOutputs(c)
		if err := c.Check(c.Xsealwax_ledger_text(at, size, out.text, out.size, c.Error())); err != nil {
			return err
		}
		text = string(out.bytes(c))
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
	waits bool
	mu    sync.Mutex
	owned *host.Owned
}

// NewRedis returns what is known of a Redis: nothing yet. waits says whether its client can keep a connection of its own.
func NewRedis(waits bool) (*Redis, error) {
	r := &Redis{waits: waits}
	return r, r.forget()
}

// forget begins with nothing known.
func (r *Redis) forget() error {
	return host.Do(func(c *host.Call) error {
		out := c.Room(4)
		var waits int32
		if r.waits {
			waits = 1
		}
		at, err := made(c, out, c.Xsealwax_redis_new(waits, out, c.Error()))
		if err == nil {
			r.owned = c.Own(at, (*module.Module).Xsealwax_redis_free)
		}
		return err
	})
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
type Dialogue struct{ owned *host.Owned }

// Begin begins the dialogue about a command.
func (r *Redis) Begin(command *Command) (*Dialogue, *Next, error) {
	written, err := json.Marshal(command)
	if err != nil {
		return nil, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	dialogue, next, err := r.begin(written)
	if err == nil {
		return dialogue, next, nil
	}
	// The instance may have ended. What was known of the store is found out again.
	if failed := r.forget(); failed != nil {
		return nil, nil, failed
	}
	return r.begin(written)
}

func (r *Redis) begin(command []byte) (*Dialogue, *Next, error) {
	d, next := &Dialogue{}, &Next{}
	return d, next, r.owned.Do(func(c *host.Call, at host.Ptr) error {
		text, size := c.Put(command)
		dialogue, out := c.Room(4), newOutputs(c)
		err := c.Check(c.Xsealwax_redis_begin(at, text, size, dialogue, out.text, out.size, c.Error()))
		if err != nil {
			return err
		}
		d.owned = c.Own(c.Ptr(dialogue), (*module.Module).Xsealwax_dialogue_free)
		return json.Unmarshal(c.View(c.Ptr(out.text), c.Uint32(out.size)), next)
	})
}

// On reports the answer to what was sent, and returns what is next.
func (d *Dialogue) On(answer any) (*Next, error) {
	written, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	next := &Next{}
	return next, d.owned.Do(func(c *host.Call, at host.Ptr) error {
		text, size := c.Put(written)
		out := newOutputs(c)
		if err := c.Check(c.Xsealwax_dialogue_on(at, text, size, out.text, out.size, c.Error())); err != nil {
			return err
		}
		return json.Unmarshal(c.View(c.Ptr(out.text), c.Uint32(out.size)), next)
	})
}

// Free frees the dialogue.
func (d *Dialogue) Free() { d.owned.Close() }
