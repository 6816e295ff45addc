package ledger_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sealwax/sealwax-go/ledger"
)

func ExampleNewMemory() {
	store, err := ledger.NewMemory(ledger.Capacity(1 << 20))
	if err != nil {
		panic(err)
	}
	keys := []string{"swl1:{0123456789abcdef}:began", "swl1:{0123456789abcdef}:fence"}
	reply, err := store.Run(context.Background(), ledger.Command{Script: "open", Keys: keys})
	fmt.Println(reply[0], err)
	// Output: ok <nil>
}

// One instance of the module holds a ledger, whoever calls.
func TestMemoryIsOneForAllGoroutines(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	store, err := ledger.NewMemory(ledger.Clock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	var wait sync.WaitGroup
	passed := make(chan string, 64)
	for i := range cap(passed) {
		wait.Go(func() {
			reply, err := store.Run(t.Context(), ledger.Command{
				Script: "admit",
				Keys:   []string{"swl1:{0}:began", "swl1:{0}:fence", "swl1:{0}:p:x", "swl1:{0}:u:r:1", "swl1:{0}:e:r:1"},
				Args: []string{
					fmt.Sprint("attempt", i), "0", "0", "once", fmt.Sprint(now.Unix()), fmt.Sprint(now.Unix()), fmt.Sprint(now.Unix() + 600), "", "", "",
				},
			})
			if err != nil {
				t.Error(err)
				return
			}
			passed <- reply[0]
		})
	}
	wait.Wait()
	close(passed)
	counted := map[string]int{}
	for verdict := range passed {
		counted[verdict]++
	}
	if counted["ok"] != 1 || counted["used"] != 63 {
		t.Errorf("verdicts %v", counted)
	}
}

// It takes what it was given, refuses what is more, and forgets nothing.
func TestMemoryIsBounded(t *testing.T) {
	store, err := ledger.NewMemory(ledger.Capacity(1 << 16))
	if err != nil {
		t.Fatal(err)
	}
	// Of many principals, because one has at most half of it.
	for i := range 10_000 {
		at := time.Now().Unix()
		reply, err := store.Run(t.Context(), ledger.Command{
			Script: "admit",
			Keys:   []string{"swl1:{0}:began", "swl1:{0}:fence", fmt.Sprintf("swl1:{0}:p:%d", i), fmt.Sprintf("swl1:{0}:u:r:%d", i), fmt.Sprintf("swl1:{0}:e:r:%d", i)},
			Args:   []string{fmt.Sprint(i), "0", "0", "once", fmt.Sprint(at), fmt.Sprint(at), fmt.Sprint(at + 600), "", "", ""},
		})
		if err != nil {
			t.Fatal(err)
		}
		if reply[0] == "full" {
			return
		}
	}
	t.Error("it took 10,000 records in 64 KiB")
}
