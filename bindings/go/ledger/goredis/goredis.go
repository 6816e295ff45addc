// Package goredis is the ledger in Redis 6.2 or later, or Valkey, by go-redis: for a fleet.
package goredis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/ledger"
)

// Ledger records in a Redis or Valkey which tokens were used or ended. Goroutines may share it.
//
// The first command, and each after a failure, checks the server, because another one may answer then. To connect and to check
// may take longer than a command: it goes on, and a later command finds it done. A command takes one round trip; ending
// something and revoking take a second one where there are replicas, for one of them to confirm it.
type Ledger struct {
	client redis.UniversalClient
	redis  *engine.Redis

	mu sync.Mutex
	// checked tells that the server was found fit, and has not failed since.
	checked bool
	// checking is closed when the check that is under way is done; failed is its outcome.
	checking chan struct{}
	failed   error
	warnings []string
	// plain has how scripts are sent whose commands need no store machine.
	plain map[string]*engine.Plain
	// watched has the clients of servers, of which each new connection counts. A Cluster's client drops those of former ones.
	watched map[weak.Pointer[redis.Client]]*dials
}

// connecting is the time limit to connect and to check a server.
const connecting = 10 * time.Second

// New returns a ledger in the server of a client, or in its Cluster: a *redis.Client or a *redis.ClusterClient. The
// guard limits the time of each command, whatever the client's own time limits and retries.
func New(client redis.UniversalClient) (*Ledger, error) {
	switch client.(type) {
	case *redis.Client, *redis.ClusterClient:
	default:
		return nil, &ledger.Error{Unfit: true, Message: fmt.Sprintf("client: expected a *redis.Client or a *redis.ClusterClient, found %T", client)}
	}
	known, err := engine.NewRedis()
	return &Ledger{client: client, redis: known, plain: map[string]*engine.Plain{}, watched: map[weak.Pointer[redis.Client]]*dials{}}, err
}

// Check returns warnings about the server's settings, which may lose records. The error is a [*ledger.Error] that says Unfit for a
// server that would lose them. It gives up after ten seconds.
func (l *Ledger) Check(ctx context.Context) ([]string, error) {
	// A Cluster's client without time limits of its own does not hear of the check's.
	ctx, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	l.fail()
	if err := l.ready(ctx, ""); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.warnings), nil
}

// Run runs a command.
func (l *Ledger) Run(ctx context.Context, command ledger.Command) ([]string, error) {
	key := ""
	if len(command.Keys) > 0 {
		key = command.Keys[0]
	}
	if err := l.ready(ctx, key); err != nil {
		return nil, err
	}
	reply, err := l.run(ctx, key, command)
	if err != nil {
		l.fail()
		return nil, err
	}
	return reply, nil
}

// run runs a command on one connection. Nobody else has it meanwhile, so that WAIT covers what was sent; go-redis tries nothing
// again on another one.
func (l *Ledger) run(ctx context.Context, key string, command ledger.Command) ([]string, error) {
	node, dials, err := l.node(ctx, key)
	if err != nil {
		return nil, err
	}
	// A check that ends meanwhile says nothing of a connection that was made before it began.
	checked := dials.checked.Load()
	conn := node.Conn()
	defer conn.Close()
	reply, err := l.say(ctx, conn, command)
	if err == nil && dials.made.Load() != checked {
		err = l.checkAgain(ctx, key, conn)
	}
	return reply, err
}

func (l *Ledger) say(ctx context.Context, conn *redis.Conn, command ledger.Command) ([]string, error) {
	var first any
	l.mu.Lock()
	plain := l.plain[command.Script]
	l.mu.Unlock()
	if plain != nil {
		sent := append(anys(plain.Send), len(command.Keys))
		sent = append(sent, anys(slices.Concat(command.Keys, command.Args))...)
		answer, err := answered(conn.Do(ctx, sent...))
		if err != nil {
			return nil, err
		}
		if texts, ok := answer["texts"].([]string); ok && slices.Equal(texts, plain.Passes) {
			return texts, nil
		}
		first = answer
	}
	last, err := l.talk(ctx, conn, engine.NewCommand(command.Script, command.Keys, command.Args, command.Within), first)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if last.Plain != nil {
		l.plain[command.Script] = last.Plain
	} else {
		clear(l.plain)
	}
	return last.Done, nil
}

// talk sends what the core says about a command, or without one to check the server, and returns its last word. first is answered
// already.
func (l *Ledger) talk(ctx context.Context, conn *redis.Conn, command *engine.Command, first any) (*engine.Next, error) {
	machine, next, err := l.redis.Begin(command)
	if err != nil {
		return nil, err
	}
	defer machine.Free()
	for len(next.Send) > 0 {
		answer := first
		first = nil
		if answer == nil {
			if answer, err = answered(conn.Do(ctx, anys(next.Send)...)); err != nil {
				return nil, err
			}
		}
		if next, err = machine.On(answer); err != nil {
			return nil, err
		}
	}
	switch {
	case next.Unfit != "":
		return nil, &ledger.Error{Unfit: true, Message: next.Unfit}
	case next.Failed != "":
		return nil, &ledger.Error{Message: next.Failed}
	}
	return next, nil
}

// ready waits until the server was checked, while the command has time.
func (l *Ledger) ready(ctx context.Context, key string) error {
	l.mu.Lock()
	if l.checked {
		l.mu.Unlock()
		return nil
	}
	checking := l.begin(ctx, key)
	l.mu.Unlock()
	select {
	case <-checking:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// begin begins a check, unless one is under way, and returns what is closed when it is done. It is called under the lock.
func (l *Ledger) begin(ctx context.Context, key string) <-chan struct{} {
	if l.checking == nil {
		l.checking = make(chan struct{})
		go l.check(context.WithoutCancel(ctx), key, l.checking)
	}
	return l.checking
}

// check checks what server a new connection reaches.
func (l *Ledger) check(ctx context.Context, key string, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	warned, err := l.warned(ctx, key)
	var unfit *ledger.Error
	l.mu.Lock()
	before := l.warnings
	// If the check could not connect, commands go on, each checking its own connection.
	l.checked = err == nil || l.checked && !(errors.As(err, &unfit) && unfit.Unfit)
	l.failed, l.checking = err, nil
	if err == nil {
		l.warnings = warned
	}
	l.mu.Unlock()
	close(done)
	warn(slices.DeleteFunc(slices.Clone(warned), func(warning string) bool { return slices.Contains(before, warning) }))
}

// warn logs warnings. A logger of the author's that panics must not end the process.
func warn(warnings []string) {
	defer func() { _ = recover() }()
	for _, warning := range warnings {
		slog.Warn("sealwax: ledger: " + warning)
	}
}

// warned checks a server on a connection of its own. Connecting calls functions of the author's: a panic of theirs is an error, told
// by its type alone, since its value may hold a credential.
func (l *Ledger) warned(ctx context.Context, key string) (warned []string, err error) {
	defer func() {
		if found := recover(); found != nil {
			err = &ledger.Error{Message: fmt.Sprintf("expected a connection, found a panic: %T", found)}
		}
	}()
	node, dials, err := l.node(ctx, key)
	if err != nil {
		return nil, err
	}
	made := dials.made.Load()
	options := *node.Options()
	options.PoolSize, options.MinIdleConns, options.ContextTimeoutEnabled = 1, 0, true
	// It is over before a node moves, and the client's own handlers would be set twice.
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	fresh := redis.NewClient(&options)
	defer fresh.Close()
	conn := fresh.Conn()
	defer conn.Close()
	last, err := l.talk(ctx, conn, nil, nil)
	if err != nil {
		return nil, err
	}
	for _, load := range last.Load {
		_, _ = answered(conn.Do(ctx, anys(load)...))
	}
	dials.checked.Store(made)
	return last.Warned, nil
}

// checkAgain checks the server that has just answered, since the client has connected meanwhile: go-redis does so without a word, and
// a server that was restarted may evict. This connection may be an older one, to another server; so a new one is checked too, and
// until it is found fit each command checks its own.
func (l *Ledger) checkAgain(ctx context.Context, key string, conn *redis.Conn) error {
	l.mu.Lock()
	l.begin(ctx, key)
	l.mu.Unlock()
	_, err := l.talk(ctx, conn, nil, nil)
	return err
}

// fail makes the next command check the server, and find out which one of a Cluster it is.
func (l *Ledger) fail() {
	if cluster, ok := l.client.(*redis.ClusterClient); ok {
		cluster.ReloadState(context.Background())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checked = false
}

// node returns the client of the server that has a key, and its connections.
func (l *Ledger) node(ctx context.Context, key string) (node *redis.Client, of *dials, err error) {
	switch client := l.client.(type) {
	case *redis.Client:
		node = client
	case *redis.ClusterClient:
		if node, err = client.MasterForKey(ctx, key); err != nil {
			return nil, nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if of = l.watched[weak.Make(node)]; of == nil {
		of = &dials{}
		// Connections from before the hook count as one.
		of.made.Store(1)
		l.watched[weak.Make(node)] = of
		node.AddHook(of)
	}
	return node, of, nil
}

// dials counts the connections of a client: each may reach another server than the ones before.
type dials struct {
	made atomic.Int64
	// checked is made as it was before the last check that found a fit server.
	checked atomic.Int64
}

// DialHook counts one that was made, before anybody has it.
func (d *dials) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := next(ctx, network, address)
		if err == nil {
			d.made.Add(1)
		}
		return conn, err
	}
}

// ProcessHook does nothing.
func (*dials) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook does nothing.
func (*dials) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func anys(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

// answered returns an answer in the form of the core.
func answered(command *redis.Cmd) (map[string]any, error) {
	found, err := command.Result()
	var refused redis.Error
	switch {
	case errors.As(err, &refused):
		return map[string]any{"error": refused.Error()}, nil
	case err != nil:
		return nil, err
	}
	switch found := found.(type) {
	case []any:
		texts := make([]string, len(found))
		for i, one := range found {
			texts[i] = fmt.Sprint(one)
		}
		return map[string]any{"texts": texts}, nil
	case int64:
		return map[string]any{"number": found}, nil
	}
	return map[string]any{"text": fmt.Sprint(found)}, nil
}
