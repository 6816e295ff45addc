package ledger

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// use is the command to use a token once (LEDGER.md), by an attempt of one of many principals.
func use(id, attempt, principal string, now time.Time) Command {
	at := fmt.Sprint(now.Unix())
	return Command{
		Script: "admit",
		Keys:   []string{"swl1:{0}:began", "swl1:{0}:fence", "swl1:{0}:p:" + principal, "swl1:{0}:u:r:" + id, "swl1:{0}:e:r:" + id},
		Args:   []string{attempt, "0", "0", "once", at, at, fmt.Sprint(now.Unix() + 600), "", "", ""},
		Within: time.Second,
	}
}

// oneHasIt has many use the same token at once, of whom one may.
func oneHasIt(t *testing.T, many int, run func(n int, attempt string) (verdict string)) {
	t.Helper()
	var wait sync.WaitGroup
	passed := make([]string, many)
	for n := range many {
		wait.Go(func() { passed[n] = run(n, fmt.Sprint("attempt", n)) })
	}
	wait.Wait()
	counted := map[string]int{}
	for _, verdict := range passed {
		counted[verdict]++
	}
	if counted["ok"] != 1 || counted["used"] != many-1 {
		t.Errorf("verdicts %v", counted)
	}
}

// One instance of the module holds a ledger, whoever calls.
func TestMemoryIsOneForAllGoroutines(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	store := must(NewMemory(Clock(func() time.Time { return now })))
	now = now.Add(time.Hour)
	oneHasIt(t, 64, func(_ int, attempt string) string {
		reply, err := store.Run(t.Context(), use("1", attempt, "x", now))
		if err != nil {
			return err.Error()
		}
		return reply[0]
	})
}

// It takes what it was given, refuses what is more, and forgets nothing.
func TestMemoryIsBounded(t *testing.T) {
	store := must(NewMemory(Capacity(1 << 16)))
	// Of many principals, because one has at most half of it.
	for n := range 10_000 {
		id := fmt.Sprint(n)
		reply := must(store.Run(t.Context(), use(id, id, id, time.Now())))
		if reply[0] == "full" {
			return
		}
	}
	t.Error("it took 10,000 records in 64 KiB")
}
