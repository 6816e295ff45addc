package goredis_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sealwax/sealwax-go/ledger"
	"github.com/sealwax/sealwax-go/ledger/goredis"
)

// store is a server of Valkey or Redis: the program that VALKEY_SERVER names.
func store(t *testing.T, settings ...string) string {
	t.Helper()
	program := os.Getenv("VALKEY_SERVER")
	if program == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("VALKEY_SERVER names no server")
		}
		t.Skip("LEFT OUT for want of VALKEY_SERVER")
	}
	port := freePort(t)
	address := fmt.Sprint("127.0.0.1:", port)
	command := exec.Command(program, append([]string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}, settings...)...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	client := operator(t, address)
	eventually(t, "a server", func() bool { return client.Ping(t.Context()).Err() == nil })
	return address
}

// operator returns a client of a server that is none of a ledger.
func operator(t *testing.T, address string) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: address})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// eventually waits until something is so, however long that takes here.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 3000 {
		if so() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// freePort returns a port below those that the system gives to clients; a node of a cluster takes the one 10,000 above it too.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(12_000)
		client, clientErr := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		cluster, clusterErr := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port+10_000))
		for _, listening := range []net.Listener{client, cluster} {
			if listening != nil {
				_ = listening.Close()
			}
		}
		if clientErr == nil && clusterErr == nil {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func opened(t *testing.T, client redis.UniversalClient) *goredis.Ledger {
	t.Helper()
	t.Cleanup(func() { _ = client.Close() })
	return must(goredis.New(client))
}

var keys = []string{"swl1:{0}:began", "swl1:{0}:fence", "swl1:{0}:p:x", "swl1:{0}:u:r:1", "swl1:{0}:e:r:1"}

// admit is a command of one token, by an attempt: `once` to use it, or `force` to end it.
func admit(mode, attempt string) ledger.Command {
	now := time.Now().Unix()
	return ledger.Command{
		Script: "admit", Keys: keys, Within: time.Second,
		Args: []string{attempt, "0", "0", mode, fmt.Sprint(now), fmt.Sprint(now), fmt.Sprint(now + 600), "", "", ""},
	}
}

// begun returns a ledger that began before the second of what is issued next.
func begun(t *testing.T, client redis.UniversalClient) *goredis.Ledger {
	t.Helper()
	one := opened(t, client)
	must(one.Run(t.Context(), ledger.Command{Script: "open", Keys: keys[:2], Within: time.Second}))
	time.Sleep(time.Second)
	return one
}

func verdict(t *testing.T, one *goredis.Ledger, command ledger.Command) string {
	t.Helper()
	reply, err := one.Run(t.Context(), command)
	if err != nil {
		return err.Error()
	}
	return reply[0]
}

func TestACluster(t *testing.T) {
	address := store(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "500")
	node := operator(t, address)
	if err := node.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a cluster", func() bool {
		return strings.Contains(node.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
	one := begun(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{address}}))
	for _, each := range []struct{ mode, attempt, expected string }{{"once", "a", "ok"}, {"once", "b", "used"}, {"force", "c", "ok"}, {"live", "d", "ended"}} {
		if found := verdict(t, one, admit(each.mode, each.attempt)); found != each.expected {
			t.Errorf("%s by %s: %s, expected %s", each.mode, each.attempt, found, each.expected)
		}
	}
}

func TestAStoreThatMayForgetIsRefused(t *testing.T) {
	isUnfit(t, opened(t, redis.NewClient(&redis.Options{Addr: store(t, evicts...)})))
	if _, err := goredis.New(redis.NewRing(&redis.RingOptions{})); err == nil {
		t.Error("a ring is one ledger")
	}
}

// A function of the author's that panics in the check ends no process, and what it said is told nobody.
func TestAPanicInTheCheckIsAnError(t *testing.T) {
	address := store(t)
	var panics atomic.Bool
	panics.Store(true)
	one := opened(t, redis.NewClient(&redis.Options{Addr: address, OnConnect: func(context.Context, *redis.Conn) error {
		if panics.Load() {
			panic("password=hunter2")
		}
		return nil
	}}))
	var failed *ledger.Error
	if _, err := one.Run(t.Context(), admit("live", "a")); !errors.As(err, &failed) || failed.Message != "expected a connection, found a panic: string" {
		t.Errorf("OnConnect: %v", err)
	}
	panics.Store(false)
	slog.SetDefault(slog.New(breaking{slog.DiscardHandler}))
	defer slog.SetDefault(slog.New(slog.DiscardHandler))
	// The store writes nothing to a disk.
	if warnings, err := one.Check(t.Context()); len(warnings) == 0 || err != nil {
		t.Errorf("a logger: %v, %v", warnings, err)
	}
	verdict(t, one, admit("live", "b"))
}

type breaking struct{ slog.Handler }

func (breaking) Enabled(context.Context, slog.Level) bool { return true }

func (breaking) Handle(context.Context, slog.Record) error { panic("password=hunter2") }

// moves is a client of the server whose address is stored last. It begins with one that is fit.
type moves struct {
	*redis.Client
	*goredis.Ledger
	address atomic.Value
	// failed tells how often it could not connect.
	failed atomic.Int64
	// connects is called with each new connection.
	connects func(ctx context.Context) error
}

func moving(t *testing.T) *moves {
	m := &moves{connects: func(context.Context) error { return nil }}
	m.address.Store(store(t))
	m.Client = redis.NewClient(&redis.Options{
		DialerRetries: 1, MaxRetries: -1,
		Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, m.address.Load().(string))
			if err != nil {
				m.failed.Add(1)
			}
			return conn, err
		},
		OnConnect: func(ctx context.Context, _ *redis.Conn) error { return m.connects(ctx) },
	})
	m.Ledger = begun(t, m.Client)
	return m
}

var evicts = []string{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}

// isUnfit has a command refused by a server that may forget.
func isUnfit(t *testing.T, one *goredis.Ledger) {
	t.Helper()
	var unfit *ledger.Error
	if reply, err := one.Run(t.Context(), admit("live", "c")); !errors.As(err, &unfit) || !unfit.Unfit {
		t.Errorf("accepted: %v, %v", reply, err)
	}
}

// held returns a connection that nobody else has: the one that was free last, or a new one.
func held(t *testing.T, client *redis.Client) *redis.Conn {
	t.Helper()
	conn := client.Conn()
	if err := conn.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	return conn
}

// That a server is fit says nothing of another one behind the address (tests/vectors/stores.json). A check that ends while a command is on
// its way may be of another server than the command's new connection.
func TestACheckThatEndsMeanwhileIsNoneOfANewConnection(t *testing.T) {
	m := moving(t)
	defer held(t, m.Client).Close()
	fit, isNext := m.address.Swap(store(t, evicts...)), true
	m.connects = func(ctx context.Context) error {
		if !isNext {
			return nil
		}
		isNext = false
		m.address.Store(fit)
		_, err := m.Check(ctx)
		return err
	}
	isUnfit(t, m.Ledger)
}

// A client that can make no connection more goes on with those that it has, each of them checked.
func TestAConnectionThatIsThereServes(t *testing.T) {
	m := moving(t)
	first, second := held(t, m.Client), held(t, m.Client)
	m.address.Store("127.0.0.1:1")
	_, _ = first.Close(), second.Close()
	eventually(t, "a new connection that is checked", func() bool {
		if found := verdict(t, m.Ledger, admit("live", "a")); found != "ok" {
			t.Fatal(found)
		}
		return m.failed.Load() >= 3
	})
}

// The checks of a program that starts wait for nobody, whatever the client does.
func TestAServerThatSaysNothingIsGivenUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{silent.Addr().String()}, ReadTimeout: -1})
	one, _ := goredis.New(client)
	_, err = one.Check(context.Background())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	_, _ = silent.Close(), client.Close()
}
