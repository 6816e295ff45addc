package host

import (
	"runtime"
	"sync/atomic"

	"github.com/sealwax/sealwax-go/internal/module"
)

// Free frees an object: a method of the module, such as (*module.Module).Xsealwax_machine_free.
type Free = func(*module.Module, Ptr)

// Shared is an object that lives in every pooled instance, made in each when it is first needed there. Any goroutine may use it.
type Shared struct {
	*places
	create func(*Call) (Ptr, error)
}

// places is where a shared object lives; what frees it keeps them, and not the object.
type places struct {
	free Free
	// Which of the pooled instances have it.
	made atomic.Uint64
	// Each is its pooled instance's, under the pooled instance's lock.
	in []place
}

type place struct {
	in *instance
	at Ptr
}

// Share returns an object that create makes in a pooled instance.
func Share(free Free, create func(*Call) (Ptr, error)) *Shared {
	s := &Shared{&places{free: free, in: make([]place, len(pool()))}, create}
	runtime.AddCleanup(s, (*places).release, s.places)
	return s
}

// At returns the object's address in the call's pooled instance.
func (s *Shared) At(c *Call) (Ptr, error) {
	here := &s.in[c.pooled.number]
	if here.in == c.in {
		return here.at, nil
	}
	at, err := s.create(c)
	if err == nil {
		*here = place{c.in, at}
		s.made.Or(1 << c.pooled.number)
	}
	runtime.KeepAlive(s)
	return at, err
}

// Do runs f as the function Do does, with the object's address: in a pooled instance that has it, if one is free.
func (s *Shared) Do(f func(c *Call, at Ptr) error) error {
	return do(s.made.Load(), func(c *Call) error {
		at, err := s.At(c)
		if err != nil {
			return err
		}
		return f(c, at)
	})
}

// release frees the object in each pooled instance that has it.
func (p *places) release() {
	for _, each := range pool() {
		if p.made.Load()&(1<<each.number) == 0 {
			continue
		}
		each.free(func(in *instance) {
			if here := &p.in[each.number]; here.in == in {
				p.free(in.Module, here.at)
				*here = place{}
			}
		})
	}
}

// Owned is an object that lives in one pooled instance, such as an exchange. One goroutine at a time may use it, but for a ledger
// in memory.
type Owned struct {
	*lone
}

// lone is the object, which what frees it keeps.
type lone struct {
	place
	pooled *pooled
	free   Free
	closed atomic.Bool
}

// Own returns the object at an address, which was made in this call.
func (c *Call) Own(at Ptr, free Free) *Owned {
	c.in.owned++
	o := &Owned{&lone{place: place{c.in, at}, pooled: c.pooled, free: free}}
	runtime.AddCleanup(o, (*lone).close, o.lone)
	return o
}

// Do runs f in the object's pooled instance, with its address. It fails if the object was closed, or its instance ended.
func (o *Owned) Do(f func(c *Call, at Ptr) error) error {
	defer runtime.KeepAlive(o)
	o.pooled.mutex.Lock()
	return o.pooled.run(func(c *Call) error {
		if o.in != c.in || o.closed.Load() {
			return fault()
		}
		return f(c, o.at)
	})
}

// Close frees the object; twice is fine.
func (o *Owned) Close() { o.close() }

func (l *lone) close() {
	if l.closed.Swap(true) {
		return
	}
	l.pooled.free(func(in *instance) {
		if l.in == in {
			in.owned--
			l.free(in.Module, l.at)
		}
	})
}
