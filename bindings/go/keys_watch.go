package sealwax

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"
)

// watch is what reads a file of keys again, until it is stopped.
type watch struct {
	stop func()
	done chan struct{}
}

// follow begins the watch of a codec: it ends when the codec is closed or collected.
func (k *Codec) follow(path string, s settings) {
	ctx, cancel := context.WithCancel(context.Background())
	k.watch = &watch{cancel, make(chan struct{})}
	go k.codec.followUntil(ctx, k.watch.done, path, s)
	runtime.AddCleanup(k, func(w *watch) { w.stop() }, k.watch)
}

func (k *codec) followUntil(ctx context.Context, done chan<- struct{}, path string, s settings) {
	defer close(done)
	tick := time.NewTicker(s.interval)
	defer tick.Stop()
	fault := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			fault = k.readAgain(path, fault, s.logger)
		}
	}
}

// readAgain takes the keys of the file, and returns what is wrong with it. It tells of each fault once.
func (k *codec) readAgain(path, before string, logger *slog.Logger) (fault string) {
	if logger == nil {
		logger = slog.Default()
	}
	// The logger's panic ends neither the watch nor the process.
	defer func() { _ = recover() }()
	ring, err := ReadKeyRing(path)
	changed := false
	if err == nil {
		changed, err = k.setKeys(ring)
	}
	if err != nil {
		told := err.(*Error)
		if fault = told.Message; fault != before {
			logger.Warn("sealwax: "+string(told.Code), "message", fault+"; the present keys stay in use")
		}
		return fault
	}
	if changed || before != "" {
		ids := ring.IDs()
		open := strings.Join(ids, " ")
		logger.Info("sealwax: keys_changed", "message", fmt.Sprintf("keys file %s: %s seals, %s open", path, ids[0], open))
	}
	return ""
}
