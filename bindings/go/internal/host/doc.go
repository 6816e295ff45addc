// Package host runs the portable module: the C library as WebAssembly, which wasm2go translated into package module.
//
// The packages above it call the functions of sealwax.h, whose comments are their documentation, under the same names.
//
// # Pooled instances
//
// An instance of the module belongs to one goroutine at a time. A pooled instance is an instance and its lock, which is held for
// one [Call]; there are as many as processors. [Do] runs a function with a pooled instance that is free:
//
//	err := host.Do(func(c *host.Call) error {
//		name, nameLen := c.Text("tools/list")
//		out, size := c.Room(1024), c.Room(4)
//		if err := c.Check(c.Xsealwax_token_fields(name, nameLen, out, 1024, size, c.Error())); err != nil {
//			return err
//		}
//		fields = c.Bytes(out, c.Uint32(size))
//		return nil
//	})
//
// What a call writes to the memory of the module is at addresses in its scratch ([Call.Room], [Call.Put], [Call.Text]),
// which is wiped when the call ends. So no address may leave the function, but those of objects. Do not call Do within
// a call.
//
// # Objects
//
// A [Shared] object lives in every pooled instance: it is made in a pooled instance when it is first needed there, and freed in all of them
// when it is closed, or when the garbage collector finds it. [Codec] and [View] are made of it, and so is a guard:
//
//	type Guard struct{ object *host.Shared }
//
//	func NewGuard(codec *host.Codec, settings string) *Guard {
//		return &Guard{host.Share((*module.Module).Xsealwax_machine_free, func(c *host.Call) (host.Ptr, error) {
//			made, err := codec.At(c)
//			…
//			err = c.Check(c.Xsealwax_machine_new(made, 0, frame, size, out, answer, answerLen, c.Error()))
//			return c.Ptr(out), err
//		})}
//	}
//
// With each call of a guard or one of its exchanges, call [Codec.At] too: it brings the codec's new keys, and a test
// clock's time, to the pooled instance.
//
// An [Owned] object lives in one pooled instance: an exchange, a ledger in memory, a store machine. [Call.Own] returns one that was
// made in a call, and its [Owned.Do] runs a function in the same pooled instance:
//
//	err = host.Do(func(c *host.Call) error {
//		at, err := guard.object.At(c)
//		…
//		if err = c.Check(c.Xsealwax_machine_new(0, at, frame, size, out, answer, answerLen, c.Error())); err == nil {
//			made = c.Own(c.Ptr(out), (*module.Module).Xsealwax_machine_free)
//		}
//		return err
//	})
//	err = made.Do(func(c *host.Call, exchange host.Ptr) error { … })
//
// # Traps
//
// A trap of the module, and any panic within a call, ends the instance. The call fails with internal_error, and so does
// each later call with an object that lived there alone. A shared object is made anew.
//
// # Types of package sealwax
//
// [CodecOf] returns the codec of a *sealwax.Codec; errors are *sealwax.Error, by [NewError].
package host
