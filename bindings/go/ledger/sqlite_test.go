package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func use(id string) Command {
	// Of LEDGER.md: one token that may be used once.
	return Command{
		Script: "admit",
		Keys:   []string{"swl1:{0}:began", "swl1:{0}:fence", "swl1:{0}:p:x", "swl1:{0}:u:r:" + id, "swl1:{0}:e:r:" + id},
		Args: []string{
			"attempt-" + id, "0", "0", "once", fmt.Sprint(time.Now().Unix()), fmt.Sprint(time.Now().Unix()),
			fmt.Sprint(time.Now().Unix() + 600), "", "", "",
		},
		Within: time.Second,
	}
}

func another(command Command) Command {
	command.Args = append([]string{"another-attempt"}, command.Args[1:]...)
	return command
}

// A file is opened by several at once, and what one of them records the others know.
func TestAFileIsSharedByMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	const many = 8
	ledgers := make([]*SQLite, many)
	var wait sync.WaitGroup
	for i := range ledgers {
		wait.Go(func() {
			made, err := NewSQLite(t.Context(), openFile(t, path))
			if err != nil {
				t.Error(err)
			}
			ledgers[i] = made
		})
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	begin(t, ledgers[0])
	// Of all who use the same token at once, one has it. To wait for the others may take longer than a busy file waits.
	passed := make(chan string, many)
	for i, ledger := range ledgers {
		wait.Go(func() {
			command := use("1")
			command.Args[0] = fmt.Sprint("attempt", i)
			for {
				reply, err := ledger.Run(t.Context(), command)
				if err == nil {
					passed <- reply[0]
					return
				}
				if !strings.Contains(err.Error(), "locked") {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	close(passed)
	counted := map[string]int{}
	for verdict := range passed {
		counted[verdict]++
	}
	if counted["ok"] != 1 || counted["used"] != many-1 {
		t.Errorf("verdicts %v", counted)
	}
}

// begin makes a ledger begin long before what is issued now.
func begin(t *testing.T, ledger *SQLite) {
	t.Helper()
	if _, err := ledger.Run(t.Context(), Command{Script: "open", Keys: use("0").Keys[:2]}); err != nil {
		t.Fatal(err)
	}
	execute(t, ledger.db, "UPDATE sealwax_ledger SET value = '1000' WHERE key LIKE '%began'")
	execute(t, ledger.db, "UPDATE sealwax_ledger SET value = '1000 - 1000' WHERE key LIKE '%fence'")
}

// A command whose time is over leaves no transaction open, and the next one runs.
func TestWhatIsCancelledLocksNobodyOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	first, err := NewSQLite(t.Context(), openFile(t, path))
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewSQLite(t.Context(), openFile(t, path))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := first.Run(ctx, use("1")); err == nil {
			t.Fatal("a cancelled command ran")
		}
	}
	if _, err := second.Run(t.Context(), use("2")); err != nil {
		t.Error(err)
	}
	if _, err := first.Run(t.Context(), use("3")); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
}

// What is recorded is there after a restart.
func TestAFileKeepsWhatItRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	for round, expected := range []string{"ok", "used"} {
		ledger, err := NewSQLite(t.Context(), openFile(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			begin(t, ledger)
		}
		command := use("1")
		if round == 1 {
			command = another(command)
		}
		reply, err := ledger.Run(t.Context(), command)
		if err != nil || reply[0] != expected {
			t.Errorf("round %d: %v %v, expected %s", round, reply, err, expected)
		}
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatCannotBeALedgerIsRefused(t *testing.T) {
	var unfit *Error
	if _, err := NewSQLite(t.Context(), nil); !errors.As(err, &unfit) || !unfit.Unfit {
		t.Errorf("nil: %v", err)
	}
	if _, err := NewSQLite(t.Context(), openFile(t, "/nowhere/ledger.db")); !errors.As(err, &unfit) || !unfit.Unfit {
		t.Errorf("no such folder: %v", err)
	}
}

func openFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statement string, arguments ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, arguments...); err != nil {
		t.Fatal(err)
	}
}
