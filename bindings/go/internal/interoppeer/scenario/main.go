// Command scenario is the scenario server of this language: tests/driver/run.py says what it is told, and what it says.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
)

// told is what the driver tells, of whatever kind.
type told struct {
	Do             string
	Now            uint64
	Keys, Audience string
	Anonymous      bool
	Settings       settings
	Who, Whom      any
	Method         string
	Forgets        bool
	Lost           map[string]int
	To             int64
	Given          []json.RawMessage
	Options        handleOptions
	Result         any
}

// say says one thing, in one write.
func say(said map[string]any) { must(0, json.NewEncoder(os.Stdout).Encode(said)) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// with adds an option of a time, if that many seconds are given.
func with[O any](options []O, seconds *int64, option func(time.Duration) O) []O {
	if seconds == nil {
		return options
	}
	return append(options, option(time.Duration(*seconds)*time.Second))
}

// when adds an option, if it is so.
func when[O any](options []O, so bool, option O) []O {
	if so {
		return append(options, option)
	}
	return options
}

// current serves what comes.
var current atomic.Pointer[stage]

func listen() (net.Listener, int) {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	return listener, listener.Addr().(*net.TCPAddr).Port
}

func main() {
	overHTTP, httpPort := listen()
	go func() {
		panic(http.Serve(overHTTP, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			current.Load().ways[r.URL.Path].ServeHTTP(w, r)
		})))
	}()
	lines, linesPort := listen()
	go func() {
		for {
			connection := must(lines.Accept())
			go current.Load().onLines(connection)
		}
	}()
	say(map[string]any{
		"http": httpPort, "lines": linesPort, "events": true,
		// The SDK has no notifications of an author's own, but this one reaches the author. Not over HTTP: a stateless handler
		// ends its session at once, and may lose it (streamable.go, serveStateless).
		"notification": "notifications/progress",
	})
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber()
	for {
		var one told
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return
		}
		must(0, err)
		if one.To != 0 {
			telling, _ := handlers.Load(one.To)
			telling.(chan told) <- one
			continue
		}
		say(map[string]any{"done": done(one)})
	}
}

func done(one told) any {
	switch one.Do {
	case "serve":
		current.Store(newStage(one))
	case "at":
		current.Load().at(one)
	case "revoke":
		return current.Load().revoke(one.Whom)
	case "keys":
		must(current.Load().codec.SetKeys(must(sealwax.ParseKeyRing(one.Keys))))
	case "heap":
		return heap()
	case "settle":
		// An answer ends when its request has been served, and lines are served in their order.
	default:
		panic("told to " + one.Do)
	}
	return nil
}

// heap returns how much of Go's heap is in use, in which the modules' memories are, and how much these are.
func heap() map[string]uint64 {
	for range 3 {
		runtime.GC()
		// What cleans up runs beside.
		time.Sleep(time.Millisecond)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return map[string]uint64{"Go": memory.HeapAlloc, "modules": host.MemorySize()}
}
