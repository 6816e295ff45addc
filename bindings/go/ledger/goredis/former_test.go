package goredis

import (
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Cluster's client has one for each server, and drops it when that server is gone.
func TestAClientOfAFormerServerIsNotKept(t *testing.T) {
	gone := make(chan bool)
	l, _ := New(redis.NewClient(&redis.Options{}))
	node, _, _ := l.node(t.Context(), "")
	runtime.AddCleanup(node, func(gone chan bool) { close(gone) }, gone)
	l.client = nil
	for {
		runtime.GC()
		select {
		case <-gone:
			runtime.KeepAlive(l)
			return
		case <-time.After(time.Millisecond):
		}
	}
}
