// Makes the calls of calls.py in wazero: `go run . MODULE < CALLS`.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// A step makes a call, or checks what calls have written.
type step struct {
	Call    string
	Args    []arg
	Returns *uint32

	Check  string
	Offset uint32
	Bytes  string
}

type arg struct {
	I32       *int64
	I64       *uint64
	Load      string
	Bytes     string
	Addresses []struct {
		At uint32
		Of arg
	}
	Out *uint32
	As  string
}

type testCase struct {
	Name   string
	Clock  *uint64
	Random string
	Steps  []step
}

// A block is memory of the module that a case has taken.
type block struct{ at, length uint32 }

type engine struct {
	ctx    context.Context
	module api.Module
	blocks []block
	named  map[string]uint32
}

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	binaryModule := must(os.ReadFile(os.Args[1]))
	var current testCase
	system := runtime.NewHostModuleBuilder("wasi_snapshot_preview1")
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(system)
	system.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, _ uint32, _ uint64, at uint32) uint32 {
		now := uint64(0)
		if current.Clock != nil {
			now = *current.Clock * 1e6
		}
		m.Memory().WriteUint64Le(at, now)
		return 0
	}).Export("clock_time_get")
	system.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, at, length uint32) uint32 {
		given := must(hex.DecodeString(current.Random))
		if len(given) != int(length) {
			given = make([]byte, length)
		}
		m.Memory().Write(at, given)
		return 0
	}).Export("random_get")
	must(system.Instantiate(ctx))
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize")
	e := &engine{ctx: ctx, module: must(runtime.InstantiateWithConfig(ctx, binaryModule, config))}

	cases := 0
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		current = testCase{}
		if err := json.Unmarshal(line, &current); err != nil {
			log.Fatal(err)
		}
		e.run(current)
		cases++
	}
	if cases < 300 {
		log.Fatalf("only %d cases", cases)
	}
	fmt.Printf("%d cases in wazero; %d kB of memory\n", cases, e.module.Memory().Size()/1024)
}

func (e *engine) run(c testCase) {
	e.named = map[string]uint32{}
	for _, s := range c.Steps {
		if s.Call == "" {
			want := must(hex.DecodeString(s.Bytes))
			if found := e.read(e.named[s.Check]+s.Offset, uint32(len(want))); !bytes.Equal(found, want) {
				log.Fatalf("%s: %s: %x, not %x", c.Name, s.Check, found, want)
			}
			continue
		}
		args := make([]uint64, len(s.Args))
		for i, a := range s.Args {
			args[i] = e.argument(a)
		}
		returned := e.call(s.Call, args...)
		if s.Returns != nil && uint32(returned[0]) != *s.Returns {
			log.Fatalf("%s: %s: %d, not %d", c.Name, s.Call, returned[0], *s.Returns)
		}
	}
	for _, b := range e.blocks {
		e.call("sealwax_free", uint64(b.at), uint64(b.length))
	}
	e.blocks = e.blocks[:0]
}

func (e *engine) call(name string, args ...uint64) []uint64 {
	return must(e.module.ExportedFunction(name).Call(e.ctx, args...))
}

func (e *engine) read(at, length uint32) []byte {
	found, ok := e.module.Memory().Read(at, length)
	if !ok {
		log.Fatalf("%d bytes at %d: not in memory", length, at)
	}
	return found
}

// give takes memory for these bytes, and copies them there.
func (e *engine) give(data []byte) uint64 {
	at := uint32(e.call("sealwax_alloc", uint64(len(data)))[0])
	e.blocks = append(e.blocks, block{at, uint32(len(data))})
	copy(e.read(at, uint32(len(data))), data)
	return uint64(at)
}

func (e *engine) argument(a arg) uint64 {
	switch {
	case a.I32 != nil:
		return uint64(uint32(*a.I32))
	case a.I64 != nil:
		return *a.I64
	case a.Load != "":
		return uint64(binary.LittleEndian.Uint32(e.read(e.named[a.Load], 4)))
	case a.Out != nil:
		at := e.give(make([]byte, *a.Out))
		e.named[a.As] = uint32(at)
		return at
	}
	data := must(hex.DecodeString(a.Bytes))
	for _, address := range a.Addresses {
		binary.LittleEndian.PutUint32(data[address.At:], uint32(e.argument(address.Of)))
	}
	return e.give(data)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
