package sealwaxmcp_test

import (
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/redis/go-redis/v9"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/ledger"
	"github.com/sealwax/sealwax-go/ledger/goredis"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
	"github.com/sealwax/sealwax-go/sealwaxtest"
)

// Names that become one where bytes that are no text are replaced never meet: they are refused.
func TestANameThatIsNoTextIsNobodys(t *testing.T) {
	user := sealwaxtest.NewUser(sealwax.Principal{})
	s := newShop(codecOf(freshKeys()), principal(user.Principal))
	c := within(t, s.server)
	names := []string{"Jos\xe8", "Jos\xe9", "Jos\xed\xa0\x80", "Jos\ufffd", "Jos\u00e9", `Jos\ufffd`, "Jos?", "Jos"}
	made := map[string]string{}
	for _, name := range names {
		user.Set(sealwax.Subject(name))
		if utf8.ValidString(name) {
			made[name] = rows.good(t, c)
		} else if told := toldOf(call(t, c, "mint", nil)); !strings.Contains(told, "-32603") {
			t.Errorf("%q: %s", name, told)
		}
	}
	for name, handle := range made {
		for _, other := range names {
			user.Set(sealwax.Subject(other))
			if taken := strings.Contains(rows.present(t, c, handle), rows.taken); taken != (other == name) {
				t.Errorf("what %q was given, %q can use: %v", name, other, taken)
			}
		}
	}
}

// valkey returns a client of a server of its own.
func valkey(t *testing.T, program string) *redis.Client {
	t.Helper()
	folder := must(os.MkdirTemp("", "valkey"))
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "socket")
	command := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { _ = client.Close() })
	for client.Ping(t.Context()).Err() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	return client
}

// To sign one of two users out does not sign the other one out, in each of the real stores.
func TestOnePrincipalIsSignedOut(t *testing.T) {
	db := must(sql.Open("sqlite3", "file:"+filepath.ToSlash(filepath.Join(t.TempDir(), "ledger.db"))))
	defer db.Close()
	stores := map[string]ledger.Ledger{"SQLite": must(ledger.NewSQLite(t.Context(), db))}
	if program := os.Getenv("VALKEY_SERVER"); program != "" {
		stores["Valkey"] = must(goredis.New(valkey(t, program)))
	} else if os.Getenv("CI") == "true" {
		t.Fatal("VALKEY_SERVER names no server")
	}
	for store, records := range stores {
		user := sealwaxtest.NewUser(alice())
		s := newShop(codecOf(freshKeys()), principal(user.Principal), sealwaxmcp.WithLedger(records,
			sealwaxmcp.AcceptIssuedSince(time.Now().Add(-time.Hour))))
		c := within(t, s.server)
		alices := rows.good(t, c)
		user.Set(sealwax.Subject("bob"))
		bobs := rows.good(t, c)
		if err := s.guard.Revoke(t.Context(), sealwax.Subject("Jos\xe8")); !errors.Is(err, sealwax.ErrInvalidArgument) {
			t.Errorf("%s: a name that is no text: %v", store, err)
		}
		if err := s.guard.Revoke(t.Context(), alice()); err != nil {
			t.Fatalf("%s: %v", store, err)
		}
		if told := rows.present(t, c, bobs); !strings.Contains(told, rows.taken) {
			t.Errorf("%s: bob: %s", store, told)
		}
		user.Set(alice())
		if told := rows.present(t, c, alices); strings.Contains(told, rows.taken) {
			t.Errorf("%s: alice: %s", store, told)
		}
	}
}
