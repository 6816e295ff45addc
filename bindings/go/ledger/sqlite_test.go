package ledger

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A file is opened by several at once, and what one of them records the others know.
func TestAFileIsSharedByMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	ledgers := make([]*SQLite, 8)
	var wait sync.WaitGroup
	for i := range ledgers {
		wait.Go(func() { ledgers[i] = opened(t, path) })
	}
	wait.Wait()
	must(ledgers[0].Run(t.Context(), Command{Script: "open", Keys: use("", "", "", time.Now()).Keys[:2]}))
	// What is made in the second in which a ledger begins may have been used before.
	time.Sleep(time.Second)
	oneHasIt(t, len(ledgers), func(n int, attempt string) string {
		for {
			reply, err := ledgers[n].Run(t.Context(), use("1", attempt, "x", time.Now()))
			if err == nil {
				return reply[0]
			}
			// To wait for the others may take longer than a busy file waits.
			if !strings.Contains(err.Error(), "locked") {
				return err.Error()
			}
		}
	})
}

// A command whose time is over leaves no transaction open, and the next one runs.
func TestWhatIsCancelledLocksNobodyOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	first, second := opened(t, path), opened(t, path)
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := first.Run(ctx, use("1", "a", "x", time.Now())); err == nil {
			t.Fatal("a cancelled command ran")
		}
	}
	for _, one := range []*SQLite{second, first} {
		must(one.Run(t.Context(), use("2", "b", "x", time.Now())))
	}
}

func TestWhatCannotBeALedgerIsRefused(t *testing.T) {
	for name, db := range map[string]*sql.DB{"nil": nil, "no such folder": openFile(t, "/nowhere/ledger.db")} {
		var unfit *Error
		if _, err := NewSQLite(t.Context(), db); !errors.As(err, &unfit) || !unfit.Unfit {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func opened(t *testing.T, path string) *SQLite {
	t.Helper()
	return must(NewSQLite(t.Context(), openFile(t, path)))
}

func openFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	db := must(sql.Open("sqlite3", "file:"+path))
	t.Cleanup(func() { _ = db.Close() })
	return db
}
