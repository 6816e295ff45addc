package engine

import (
	"sync"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/internal/module"
)

// machine is one in a single instance of the module. Goroutines may share it until it is freed.
type machine struct {
	// codec is an exchange's, whose new keys are brought before each call.
	codec *host.Codec
	mu    sync.Mutex
	owned *host.Owned
}

// create makes a machine within a call, and returns its address and its first answer.
func create(c *host.Call, codec, parent host.Ptr, f frame) (host.Ptr, answer, error) {
	at, size := f.put(c)
	out := c.Room(12)
	if err := c.Check(c.Xsealwax_machine_new(codec, parent, at, size, out, out+4, out+8, c.Error())); err != nil {
		return 0, answer{}, err
	}
	return c.Ptr(out), answered(c, out+4), nil
}

var freeMachine = (*module.Module).Xsealwax_machine_free

// begin makes the machine within a call, and reads its first answer.
func (m *machine) begin(c *host.Call, parent host.Ptr, f frame, first any) error {
	at, found, err := create(c, 0, parent, f)
	if err != nil {
		return err
	}
	m.owned = c.Own(at, freeMachine)
	return found.read(first)
}

// renew makes the machine anew, in place of one that ended with its instance.
func (m *machine) renew(f frame) error {
	return host.Do(func(c *host.Call) error { return m.begin(c, 0, f, nil) })
}

// do runs f in the machine's instance, with its address.
func (m *machine) do(f func(c *host.Call, at host.Ptr) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owned == nil {
		return &sealwax.Error{
			Code:    sealwax.ErrInvalidArgument,
			Message: "expected a request that is being served, found one that was answered or cancelled",
		}
	}
	return m.owned.Do(func(c *host.Call, at host.Ptr) error {
		if m.codec != nil {
			if _, err := m.codec.At(c); err != nil {
				return err
			}
		}
		return f(c, at)
	})
}

// Freed tells that the machine was freed, or never begun.
func (m *machine) Freed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owned == nil
}

// on tells the machine something, and reads its answer.
func (m *machine) on(f frame, next any) error {
	return m.do(func(c *host.Call, at host.Ptr) error {
		told, size := f.put(c)
		out := c.Room(8)
		if err := c.Check(c.Xsealwax_machine_on(at, told, size, out, out+4, c.Error())); err != nil {
			return err
		}
		found := answered(c, out)
		return found.read(next)
	})
}

// Free frees the machine, which cancels an exchange at any step.
func (m *machine) Free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owned != nil {
		m.owned.Close()
		m.owned = nil
	}
}
