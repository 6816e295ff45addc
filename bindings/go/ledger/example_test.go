package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/sealwax/sealwax-go/ledger"
)

// What a guard asks when it begins to use a ledger.
var open = ledger.Command{Script: "open", Keys: []string{"swl1:{0123456789abcdef}:began", "swl1:{0123456789abcdef}:fence"}}

func ExampleNewMemory() {
	store, err := ledger.NewMemory(ledger.Capacity(1 << 20))
	if err != nil {
		log.Fatal(err)
	}
	reply, err := store.Run(context.Background(), open)
	fmt.Println(reply[0], err)
	// Output: ok <nil>
}

func ExampleNewSQLite() {
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	// By any driver: this one needs no cgo.
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(folder, "ledger.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	store, err := ledger.NewSQLite(context.Background(), db)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	reply, err := store.Run(context.Background(), open)
	fmt.Println(reply[0], err)
	// Output: ok <nil>
}
