package sealwaxmcp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/ledger"
)

// caller answers the engine's questions, and resolves the principal at most once for a request. A wrapper around the server
// shares it with the guard at the handlers.
type caller struct {
	guard   *Guard
	from    *mcp.RequestExtra
	arrived time.Time
	// quiet tells that what is opened is not counted: it will be opened once more.
	quiet bool

	mu     sync.Mutex
	known  *engine.Principal
	asked  bool
	failed error
}

func (g *Guard) caller(ctx context.Context, from *mcp.RequestExtra) *caller {
	if from == nil {
		from = &mcp.RequestExtra{}
	}
	c := &caller{guard: g, from: from, arrived: time.Now()}
	if _, ok := g.principals.(anonymous); ok {
		c.known = &engine.Principal{Anonymous: true}
		g.warnOfToken(ctx, from.TokenInfo)
	}
	return c
}

// Drive answers the engine's questions, and returns the first step that is none, or asks for what the user of a call confirms.
func (c *caller) Drive(ctx context.Context, x *engine.Exchange, step *engine.Step) (*engine.Step, error) {
	for {
		c.tell(ctx, x, step)
		if step.Step != "ask" {
			return step, nil
		}
		var answer engine.Told
		switch step.Name {
		case "principal":
			answer = c.identify(ctx)
		case "ledger":
			answer = c.record(ctx, step)
		case "initial":
			answer = told(safely(func() (json.RawMessage, error) { return c.guard.initial(ctx, c.from) }))
		default:
			return step, nil
		}
		var err error
		if step, err = x.Told(answer); err != nil {
			return nil, err
		}
	}
}

// finish runs an exchange of no request, and returns its last step.
func (c *caller) finish(ctx context.Context, begin func() (*engine.Exchange, *engine.Step, error)) (*engine.Step, error) {
	x, step, err := begin()
	if err != nil {
		return nil, err
	}
	defer x.Free()
	return c.Drive(ctx, x, step)
}

// tell gives a step's entries to the log and the author's hooks.
func (c *caller) tell(ctx context.Context, x *engine.Exchange, step *engine.Step) {
	for i := range step.Refused {
		c.guard.report(ctx, &step.Refused[i])
	}
	if len(step.Events) == 0 || c.quiet {
		return
	}
	since := c.arrived
	if !x.Began.IsZero() {
		since = x.Began
	}
	for i := range step.Events {
		c.guard.observe(ctx, &step.Events[i], time.Since(since))
	}
}

// identify resolves the caller once, also for a handler that uses two handles at a time.
func (c *caller) identify(ctx context.Context) engine.Told {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil && !c.asked {
		c.asked = true
		found, err := safely(func() (Principal, error) { return c.guard.principals.Principal(ctx, c.from) })
		if err == nil && found != (Principal{}) {
			c.known, err = parts(found)
		}
		c.failed = err
	}
	// Without an error, null is nobody.
	return told(c.known, c.failed)
}

// who returns the caller, if it was resolved.
func (c *caller) who() *engine.Principal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

// record runs a command of the ledger.
func (c *caller) record(ctx context.Context, step *engine.Step) engine.Told {
	command := ledger.Command{
		Script: step.Script, Keys: step.Keys, Args: step.Args, Within: time.Duration(step.WithinMs) * time.Millisecond,
	}
	return told(within(ctx, step.WithinMs, func(ctx context.Context) ([]string, error) { return c.guard.ledger.Run(ctx, command) }))
}

// within calls a function that may wait, and waits no longer than it may: what comes later is dropped.
func within[T any](ctx context.Context, ms uint64, f func(context.Context) (T, error)) (found T, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
	done := make(chan func() (T, error), 1)
	go func() {
		defer cancel()
		found, err := safely(func() (T, error) { return f(ctx) })
		done <- func() (T, error) { return found, err }
	}()
	<-ctx.Done()
	select {
	case outcome := <-done:
		return outcome()
	default:
		return found, context.Cause(ctx)
	}
}

// safely calls a function of the author's, whose panic is an error. That tells where, and of the value no more than its type: it
// may hold a credential.
func safely[T any](f func() (T, error)) (found T, err error) {
	defer func() {
		thrown := recover()
		if thrown == nil {
			return
		}
		why := fmt.Sprintf("%T", thrown)
		if mistake, ok := thrown.(runtime.Error); ok {
			why = mistake.Error()
		}
		err = invalid("a panic%s: %s", place(), why)
	}()
	return f()
}

// place returns where the panic is from that a deferred function has recovered.
func place() string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf(" at %s:%d", filepath.Base(frame.File), frame.Line)
		}
	}
	return ""
}
