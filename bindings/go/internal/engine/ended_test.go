package engine

import (
	"testing"

	"github.com/sealwax/sealwax-go/internal/host"
)

// A fault ends the instance in which a ledger lives, and with it what the ledger knows: its end is told, and the next one
// remembers since after that second. What may have been used before is then refused, as transcripts show of one that forgets.
func TestALedgerThatEndedBeginsAnew(t *testing.T) {
	ledger, err := NewMemory(8<<20, 100)
	if err != nil {
		t.Fatal(err)
	}
	if err := ledger.owned.Do(func(*host.Call, host.Ptr) error { panic("a fault") }); err == nil {
		t.Fatal("expected an error")
	}
	open := NewCommand("open", []string{"swl1:{a}:began", "swl1:{a}:fence"}, nil, 0)
	if _, err := ledger.Run(open, 1000); err == nil {
		t.Fatal("expected that its end is told")
	}
	reply, err := ledger.Run(open, 1000)
	if err != nil || reply[1] != "1001" {
		t.Errorf("expected that it began after the fault, found %q, %v", reply, err)
	}
}
