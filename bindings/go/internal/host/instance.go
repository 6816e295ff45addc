package host

import (
	"github.com/sealwax/sealwax-go/internal/module"
)

// instance is the module with a memory of its own.
type instance struct {
	*module.Module
	memory *[]byte
	// The memory as it was after the last call: the module moves it to grow.
	last    []byte
	scratch Ptr
}

const abi = 1

func newInstance() *instance {
	cipher := new(cipher)
	in := &instance{Module: module.New(cipher, wasi{cipher})}
	in.memory = in.Xmemory().Slice()
	cipher.memory = in.memory
	in.last = *in.memory
	in.X_initialize()
	if found := in.Xsealwax_abi_version(); found != abi {
		panic("sealwax: a module of another ABI")
	}
	if in.scratch = in.Xsealwax_alloc(scratchSize); in.scratch == 0 {
		panic("sealwax: no memory")
	}
	clear((*in.memory)[in.scratch:][:scratchSize])
	return in
}

// settle wipes the memory that the module left for a larger one: there may be keys in it.
func (in *instance) settle() {
	if now := *in.memory; &now[0] != &in.last[0] {
		clear(in.last)
		in.last = now
	}
}

// drop wipes an instance that nobody may use any more.
func (in *instance) drop() {
	in.settle()
	clear(in.last)
}
