package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sealwax/sealwax-go/ledger"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

type ledgerSettings struct {
	Since, ClockTolerance, AcceptIssuedSince *int64
	Local                                    *bool
	ReusableRequestState                     bool
}

func (given ledgerSettings) options(now time.Time) []sealwaxmcp.LedgerOption {
	options := with(nil, given.ClockTolerance, sealwaxmcp.ClockTolerance)
	options = with(options, given.AcceptIssuedSince, func(age time.Duration) sealwaxmcp.LedgerOption {
		return sealwaxmcp.AcceptIssuedSince(now.Add(-age))
	})
	return when(options, given.ReusableRequestState, sealwaxmcp.ReusableRequestState())
}

// scriptedLedger is the package's own in memory, whose answers may be lost.
type scriptedLedger struct {
	now          func() time.Time
	fails, local bool

	mu     sync.Mutex
	memory *ledger.Memory
	lost   map[string]int
}

func (s *stage) newLedger(fails bool, given ledgerSettings) *scriptedLedger {
	l := &scriptedLedger{now: s.now, fails: fails, local: given.Local == nil || *given.Local, lost: map[string]int{}}
	since := uint64(3600)
	if given.Since != nil {
		since = uint64(*given.Since)
	}
	now := s.clock.Now()
	s.clock.Set(now - since*1000)
	l.begin()
	s.clock.Set(now)
	return l
}

func (l *scriptedLedger) begin() { l.memory = must(ledger.NewMemory(ledger.Clock(l.now))) }

func (l *scriptedLedger) before(one told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.Forgets {
		l.begin()
	}
	for script, times := range one.Lost {
		l.lost[script] += times
	}
}

func (l *scriptedLedger) Local() bool { return l.local }

func (l *scriptedLedger) Run(ctx context.Context, command ledger.Command) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// When it is opened is the SDK's.
	if command.Script != "open" {
		say(map[string]any{"commands": command.Script})
		if l.fails {
			return nil, errors.New("the store is down")
		}
	}
	reply, err := l.memory.Run(ctx, command)
	if l.lost[command.Script] > 0 {
		l.lost[command.Script]--
		return nil, errors.New("the answer is lost")
	}
	return reply, err
}
