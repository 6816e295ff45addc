package sealwaxmcp

import (
	"context"
	"errors"
	"fmt"
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

	mu     sync.Mutex
	known  *engine.Principal
	failed any
}

// answers are those of a request whose session begins or is written.
type answers struct {
	begin  func() (event any, value []byte)
	update func(value []byte) (event any, changed []byte)
}

func (g *Guard) caller(ctx context.Context, from *mcp.RequestExtra) *caller {
	if from == nil {
		from = &mcp.RequestExtra{}
	}
	c := &caller{guard: g, from: from}
	if g.settings.Events {
		c.arrived = time.Now()
	}
	if _, ok := g.principals.(anonymous); ok {
		c.known = &engine.Principal{Anonymous: true}
		g.warnOfToken(ctx, from.TokenInfo)
	}
	return c
}

// drive answers the engine's questions, and returns the first step that is none.
func (c *caller) drive(ctx context.Context, x *engine.Exchange, step *engine.Step, more answers) (*engine.Step, error) {
	for {
		c.tell(ctx, x, step)
		var event any
		var value []byte
		switch step.Step {
		case "identify":
			event = map[string]any{"principal": c.identify(ctx)}
		case "ask":
			event = map[string]any{"answer": c.ask(ctx, step)}
		case "ledger":
			event = map[string]any{"ledger": c.record(ctx, step)}
		case "transition":
			event = map[string]any{"transition": c.openedElsewhere(ctx, step)}
		case "begin":
			event, value = more.begin()
		case "update":
			event, value = more.update([]byte(*step.Value))
		default:
			return step, nil
		}
		var err error
		if step, err = x.On(event, value); err != nil {
			return nil, err
		}
	}
}

// tell gives a step's entries to the log and the author's hooks.
func (c *caller) tell(ctx context.Context, x *engine.Exchange, step *engine.Step) {
	for i := range step.Refused {
		c.guard.report(ctx, &step.Refused[i])
	}
	if len(step.Events) == 0 {
		return
	}
	since := c.arrived
	if !x.Began.IsZero() {
		since = x.Began
	}
	for i := range step.Events {
		c.guard.observe(&step.Events[i], time.Since(since))
	}
}

// identify resolves the caller once, also for a handler that uses two handles at a time.
func (c *caller) identify(ctx context.Context) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil && c.failed == nil {
		found, err := c.guard.principals.Principal(ctx, c.from)
		switch {
		case err != nil:
			c.failed = engine.Failed{Failed: "principal: expected a function that gives one, found " + named(err)}
		case found == (Principal{}):
			c.failed = map[string]bool{"nobody": true}
		default:
			c.known = parts(found)
		}
	}
	if c.known != nil {
		return c.known
	}
	return c.failed
}

// who returns the caller, if it was resolved.
func (c *caller) who() *engine.Principal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

func (c *caller) ask(ctx context.Context, step *engine.Step) any {
	accept, name := c.guard.accept, "accept"
	if step.End != nil {
		name = "ended"
	}
	var answer any = "yes"
	err := within(ctx, step.WithinMs, func(ctx context.Context) error {
		if step.End != nil {
			if err := accept.Ended(ctx, c.presented(step.End)); err != nil {
				return err
			}
		}
		for place := range step.Accept {
			accepted, err := accept.Accept(ctx, c.presented(&step.Accept[place]))
			if err != nil {
				return err
			}
			if !accepted {
				answer = map[string]int{"no": place}
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return engine.Failed{Failed: fmt.Sprintf("expected %s to answer in %v, found %s", name, c.guard.timeLimit, named(err))}
	}
	return answer
}

func (c *caller) presented(one *engine.Presented) Presented {
	presented := Presented{Kind: one.Kind, ID: one.ID}
	if known := c.who(); !one.Public && known != nil {
		presented.Principal = principalOf(known.Issuer, known.Client, known.Subject)
	}
	if one.Until != nil {
		presented.Until = time.Unix(*one.Until, 0)
	}
	return presented
}

func (c *caller) record(ctx context.Context, step *engine.Step) any {
	command := ledger.Command{
		Script: step.Script, Keys: step.Keys, Args: step.Args, Within: time.Duration(step.WithinMs) * time.Millisecond,
	}
	var reply []string
	err := within(ctx, step.WithinMs, func(ctx context.Context) (err error) {
		reply, err = c.guard.ledger.Run(ctx, command)
		return err
	})
	var told *ledger.Error
	switch {
	case errors.As(err, &told):
		return engine.Failed{Failed: "ledger: " + told.Message}
	case err != nil:
		return engine.Failed{Failed: fmt.Sprintf("ledger: expected an answer in %v, found %s", command.Within, named(err))}
	}
	return reply
}

func (c *caller) openedElsewhere(ctx context.Context, step *engine.Step) any {
	var (
		opened string
		good   bool
	)
	err := within(ctx, step.WithinMs, func(ctx context.Context) (err error) {
		opened, good, err = c.guard.transition.Open(ctx, step.Token)
		return err
	})
	switch {
	case err != nil:
		return engine.Failed{Failed: fmt.Sprintf("expected transition to answer in %v, found %s", c.guard.timeLimit, named(err))}
	case !good:
		return map[string]bool{"refused": true}
	}
	return map[string]string{"opened": opened}
}

// within calls a function that may wait, and waits no longer than it may: what comes later is dropped.
func within(ctx context.Context, ms uint64, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- f(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		select {
		case err := <-done:
			return err
		default:
			return context.Cause(ctx)
		}
	}
}
