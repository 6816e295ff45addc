//go:build unix

package goredis_test

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// A replica that does not answer confirms no end, also to a client with many connections: WAIT on another one than the end went
// over finds nothing to wait for.
func TestAnEndIsConfirmedByAReplicaAlone(t *testing.T) {
	address := store(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := strings.Cut(address, ":")
	replica, master := operator(t, store(t, "--replicaof", host+" "+port)), operator(t, address)
	eventually(t, "a replica", func() bool {
		return strings.Contains(master.Info(t.Context(), "replication").Val(), "state=online")
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
		reply := must(one.Run(t.Context(), command))
		return reply
	}
	for n := range 2 {
		if reply := end(fmt.Sprint("a", n)); strings.Join(reply, " ") != "ok 1" {
			t.Fatalf("with a replica: %v", reply)
		}
	}
	_, rest, _ := strings.Cut(replica.Info(t.Context(), "server").Val(), "process_id:")
	process := must(strconv.Atoi(strings.Fields(rest)[0]))
	if err := syscall.Kill(process, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if reply := end(fmt.Sprint("b", n)); strings.Join(reply, " ") != "ok 1 unconfirmed" {
			t.Errorf("with a replica that does not answer: %v", reply)
		}
	}
}
