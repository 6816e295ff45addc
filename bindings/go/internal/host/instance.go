package host

import (
	"github.com/sealwax/sealwax-go/internal/module"
)

// instance is the module with a memory of its own.
type instance struct {
	*module.Module
	memory  *[]byte
	scratch Ptr
	// How many objects live here alone.
	owned int
}

const abi = 1

// newModule makes a module with its imports; tests make one whose imports fail.
var newModule = func(c *cipher) *module.Module { return module.New(c, wasi{cipher: c}) }

func newInstance() *instance {
	cipher := new(cipher)
	in := &instance{Module: newModule(cipher)}
	in.memory = in.Xmemory().Slice()
	cipher.memory = in.memory
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

// drop wipes an instance that nobody may use any more. What lived in it may still name it.
func (in *instance) drop() {
	clear(*in.memory)
	*in.memory = nil
}
