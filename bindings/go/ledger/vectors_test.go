package ledger

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"
)

// The cases' time.
const now = 1_800_000_000

// A store with transactions has no process of its own, and so no other one.
var others = regexp.MustCompile(` (OTHER|PROMOTED|EVICTED|FORMER) `)

var relative = regexp.MustCompile(`^@-?\d+$`)

// resolved returns a text of the vectors with its times: `@N`.
func resolved(text string) string {
	parts := strings.Split(text, " ")
	for i, part := range parts {
		if relative.MatchString(part) {
			n, _ := strconv.ParseInt(part[1:], 10, 64)
			parts[i] = fmt.Sprint(now + n)
		} else if part == "RUN" {
			parts[i] = "-"
		}
	}
	return strings.Join(parts, " ")
}

func resolvedAll(texts []string) []string {
	found := make([]string, len(texts))
	for i, text := range texts {
		found[i] = resolved(text)
	}
	return found
}

type row struct {
	Value string
	Until any
}

// Every case of tests/vectors/ledger.json, in a file of SQLite.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../../../tests/vectors/ledger.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Script            string
			Keys, Args, Reply []string
			Values            []*string
			After             map[string][]string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	db := openFile(t, filepath.Join(t.TempDir(), "ledger.db"))
	ledger, err := NewSQLite(t.Context(), db, EndOfProcess())
	if err != nil {
		t.Fatal(err)
	}
	ledger.text["now"] = fmt.Sprintf("SELECT %d", now)
	played := 0
	for at, one := range file.Cases {
		rows := map[string]row{}
		left := false
		for i, value := range one.Values {
			if value != nil {
				left = left || others.MatchString(*value)
				rows[one.Keys[i]] = row{resolved(*value), nil}
			}
		}
		if left {
			continue
		}
		played++
		execute(t, db, "DELETE FROM sealwax_ledger")
		for key, row := range rows {
			execute(t, db, "INSERT INTO sealwax_ledger VALUES (?, ?, ?)", key, row.Value, row.Until)
		}
		reply, err := ledger.Run(t.Context(), Command{Script: one.Script, Keys: one.Keys, Args: resolvedAll(one.Args), Within: time.Second})
		if err != nil {
			t.Fatal(at, err)
		}
		if expected := resolvedAll(one.Reply); !reflect.DeepEqual(reply, expected) {
			t.Errorf("case %d: %v, expected %v", at, reply, expected)
		}
		for key, kept := range one.After {
			delete(rows, key)
			if kept != nil {
				made := row{resolved(kept[0]), nil}
				if until := resolved(kept[1]); until != "" {
					made.Until, _ = strconv.ParseInt(until, 10, 64)
				}
				rows[key] = made
			}
		}
		if found := stored(t, db); !reflect.DeepEqual(found, rows) {
			t.Errorf("case %d: stored %v, expected %v", at, found, rows)
		}
	}
	if played < 700 {
		t.Errorf("played %d cases", played)
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

func stored(t *testing.T, db *sql.DB) map[string]row {
	t.Helper()
	found, err := db.QueryContext(t.Context(), "SELECT key, value, until FROM sealwax_ledger")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	rows := map[string]row{}
	for found.Next() {
		var key string
		var one row
		if err := found.Scan(&key, &one.Value, &one.Until); err != nil {
			t.Fatal(err)
		}
		rows[key] = one
	}
	return rows
}
