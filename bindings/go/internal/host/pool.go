package host

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// pooled is an instance, made when it is first needed, and its lock.
type pooled struct {
	number int
	mutex  sync.Mutex
	in     *instance
	call   Call
	// What to free at the next call.
	freeing sync.Mutex
	dead    []func(*instance)
}

const (
	// As many as bits in Shared.made.
	maxInstances = 64
	// What an instance keeps after a large input.
	maxMemory = 16 << 20
)

var pool = sync.OnceValue(func() []*pooled {
	made := make([]*pooled, min(runtime.GOMAXPROCS(0), maxInstances))
	for number := range made {
		made[number] = &pooled{number: number}
	}
	return made
})

var turn atomic.Uint32

// Do runs f with a pooled instance that is free, or else waits for one.
func Do(f func(*Call) error) error { return do(0, f) }

// do prefers the pooled instances of a set.
func do(preferred uint64, f func(*Call) error) error {
	all := pool()
	for _, s := range all {
		if preferred&(1<<s.number) != 0 && s.mutex.TryLock() {
			return s.run(f)
		}
	}
	for _, s := range all {
		if s.mutex.TryLock() {
			return s.run(f)
		}
	}
	s := all[turn.Add(1)%uint32(len(all))]
	s.mutex.Lock()
	return s.run(f)
}

// run runs f under the lock, and unlocks. After a panic the instance is dropped.
func (s *pooled) run(f func(*Call) error) (err error) {
	healthy := false
	defer func() {
		if !healthy {
			// What went wrong says no more than where, and may hold what a client sent.
			_ = recover()
			if s.in != nil {
				s.in.drop()
			}
			s.in = nil
			err = fault()
		}
		s.mutex.Unlock()
	}()
	if s.in == nil {
		if err := allowed(); err != nil {
			healthy = true
			return NewError(internalStatus, internalCode, err.Error(), false)
		}
		s.in = newInstance()
	}
	s.bury()
	err = f(s.begin())
	s.call.finish()
	if s.in.owned == 0 && len(*s.in.memory) > maxMemory {
		// The memory of an instance never shrinks.
		s.in.drop()
		s.in = nil
	}
	healthy = true
	return err
}

// bury frees what nobody uses any more.
func (s *pooled) bury() {
	s.freeing.Lock()
	found := s.dead
	s.dead = nil
	s.freeing.Unlock()
	for _, free := range found {
		free(s.in)
	}
}

// free calls a function that frees something in an instance: now if the pooled instance is idle, or else at its next call.
func (s *pooled) free(f func(*instance)) {
	s.freeing.Lock()
	s.dead = append(s.dead, f)
	s.freeing.Unlock()
	if s.mutex.TryLock() {
		if s.in == nil {
			s.mutex.Unlock()
			return
		}
		_ = s.run(func(*Call) error { return nil })
	}
}

// MemorySize returns how many bytes the memories of all instances have.
func MemorySize() (total uint64) {
	for _, s := range pool() {
		s.mutex.Lock()
		if s.in != nil {
			total += uint64(len(*s.in.memory))
		}
		s.mutex.Unlock()
	}
	return total
}
