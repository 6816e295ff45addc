//go:build unix

package goredis_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

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

// A replica that does not answer confirms no end, also to a client with many connections: WAIT on another one than the end went
// over finds nothing to wait for.
func TestAnEndIsConfirmedByAReplicaAlone(t *testing.T) {
	address := store(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := strings.Cut(address, ":")
	replica := redis.NewClient(&redis.Options{Addr: store(t, "--replicaof", host+" "+port)})
	defer replica.Close()
	operator := redis.NewClient(&redis.Options{Addr: address})
	defer operator.Close()
	eventually(t, "a replica", func() bool {
		return strings.Contains(operator.Info(t.Context(), "replication").Val(), "state=online")
	})
	// First in, first out: each command has another connection than the one before.
	client := redis.NewClient(&redis.Options{Addr: address, PoolFIFO: true, PoolSize: 4, MinIdleConns: 4})
	one := opened(t, client)
	since(t, one, client)
	eventually(t, "connections", func() bool { return client.PoolStats().IdleConns == 4 })
	end := func(attempt string) []string {
		t.Helper()
		// Half of this time is for the replica.
		command := admit("force", attempt)
		command.Within = 4 * time.Second
		reply, err := one.Run(t.Context(), command)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	for n := range 2 {
		if reply := end(fmt.Sprint("a", n)); strings.Join(reply, " ") != "ok 1" {
			t.Fatalf("with a replica: %v", reply)
		}
	}
	_, rest, _ := strings.Cut(replica.Info(t.Context(), "server").Val(), "process_id:")
	process, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(process, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if reply := end(fmt.Sprint("b", n)); strings.Join(reply, " ") != "ok 1 unconfirmed" {
			t.Errorf("with a replica that does not answer: %v", reply)
		}
	}
}

// A store that was replaced by one that may forget is refused, though its client connects again by itself.
func TestAStoreThatBeganToEvictIsRefused(t *testing.T) {
	port := fmt.Sprint(freePort(t))
	address, folder := "127.0.0.1:"+port, t.TempDir()
	begin := func(settings ...string) *exec.Cmd {
		t.Helper()
		settings = append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "3600 1", "--dir", folder}, settings...)
		command := exec.Command(os.Getenv("VALKEY_SERVER"), settings...)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
		operator := redis.NewClient(&redis.Options{Addr: address})
		defer operator.Close()
		eventually(t, "a server", func() bool { return operator.Ping(t.Context()).Err() == nil })
		return command
	}
	if os.Getenv("VALKEY_SERVER") == "" {
		store(t)
	}
	first := begin()
	client := redis.NewClient(&redis.Options{Addr: address})
	one := opened(t, client)
	since(t, one, client)
	if found := verdict(t, one, admit("once", "a")); found != "ok" {
		t.Fatal(found)
	}
	operator := redis.NewClient(&redis.Options{Addr: address})
	defer operator.Close()
	// It keeps its records.
	_ = operator.Shutdown(context.WithoutCancel(t.Context())).Err()
	_ = first.Wait()
	begin("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	for n := range 3 {
		reply, err := one.Run(t.Context(), admit("live", fmt.Sprint("b", n)))
		if err == nil {
			t.Errorf("accepted: %v", reply)
		}
	}
}
