// Command bench compares Sealwax in Go with its peers: a JSON object a line (benches/run.py says which).
//
//	bench [quick]
package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
)

var (
	sizes  = []int{64, 256, 1024, 4096}
	turnNs = time.Millisecond.Nanoseconds()
	turns  = 301
)

type side struct {
	call     func(string) string
	argument string
}

// duel lets two sides work by turns, so that whatever the machine does hits both. It returns the medians of nanoseconds
// for one call of each.
func duel(sides [2]side) (medians [2]float64) {
	var times [2][]float64
	var calls [2]int
	for n, it := range sides {
		calls[n] = max(1, int(float64(turnNs)/turn(it, 100)))
	}
	for number := range turns {
		for place := range 2 {
			n := (number + place) % 2
			times[n] = append(times[n], turn(sides[n], calls[n]))
		}
	}
	for n := range medians {
		slices.Sort(times[n])
		medians[n] = times[n][len(times[n])/2]
	}
	return medians
}

func turn(it side, calls int) float64 {
	start := time.Now()
	for range calls {
		it.call(it.argument)
	}
	return float64(time.Since(start).Nanoseconds()) / float64(calls)
}

func show(row map[string]any) {
	row["language"] = "go"
	if err := json.NewEncoder(os.Stdout).Encode(row); err != nil {
		panic(err)
	}
}

func against(mine *ours, other peer, payload string) {
	tokens := [2]string{mine.seal(payload), other.seal(payload)}
	if mine.open(tokens[0]) != payload || other.open(tokens[1]) != payload {
		panic(other.name() + " does not open what it sealed")
	}
	works := map[string][2]side{
		"seal": {{mine.seal, payload}, {other.seal, payload}}, "open": {{mine.open, tokens[0]}, {other.open, tokens[1]}},
	}
	if other, ok := other.(*ours); ok {
		works = map[string][2]side{
			"request-seal": {{mine.sealRequest, payload}, {other.seal, payload}},
			"request-open": {{mine.openRequest, tokens[0]}, {other.open, tokens[1]}},
		}
	}
	for op, sides := range works {
		medians := duel(sides)
		show(map[string]any{
			"size": len(payload), "op": op, "ours_ns": medians[0], "peer": other.name(), "peer_ns": medians[1],
			"ratio": medians[1] / medians[0], "ours_length": len(tokens[0]), "peer_length": len(tokens[1]),
		})
	}
}

// parts is what a request costs beside its tokens: its context, of arguments in either order, and the view.
func parts() {
	context := func(arguments json.RawMessage) side {
		return side{func(string) string { _ = must(sealwax.NewRequestContext(method, target, arguments)); return "" }, ""}
	}
	view := func(keys int) side {
		held := newOurs(keys)
		return side{func(string) string { held.view(); return "" }, ""}
	}
	contexts := duel([2]side{context(sorted), context(arguments)})
	views := duel([2]side{view(1), view(3)})
	show(map[string]any{"parts": map[string]float64{
		"context": contexts[0], "context-unsorted": contexts[1], "view": views[0], "view-3-keys": views[1],
	}})
}

func main() {
	if slices.Equal(os.Args[1:], []string{"quick"}) {
		turnNs, turns = turnNs*3/10, 25
	}
	// As the turns of the other benches: one at a time.
	runtime.GOMAXPROCS(1)
	mine := newOurs(1)
	for _, size := range sizes {
		payload := text(size)
		for _, other := range []peer{newCookies(), newSigned(), newOurs(1)} {
			against(mine, other, payload)
		}
	}
	parts()
}

func text(size int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	drawn, made := rand.New(rand.NewPCG(uint64(size), 0)), make([]byte, size)
	for n := range made {
		made[n] = letters[drawn.IntN(len(letters))]
	}
	return string(made)
}
