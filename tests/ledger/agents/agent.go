// Runs commands at a ledger: reads a JSON command a line, and writes a JSON reply a line.
//
// Usage: ledger-agent redis://HOST:PORT[?cluster] | sqlite:PATH | memory
//
// A reply is an array of texts, or {"failed": "…"}. What takes longer than a second has failed: a guard gives it 300 ms, which a test
// on a busy machine cannot.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/redis/go-redis/v9"

	"github.com/sealwax/sealwax-go/ledger"
	"github.com/sealwax/sealwax-go/ledger/goredis"
)

const timeout = time.Second

func made(address string) (ledger.Ledger, error) {
	if address == "memory" {
		return ledger.NewMemory()
	}
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		db, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			return nil, err
		}
		return ledger.NewSQLite(context.Background(), db)
	}
	url, _, cluster := strings.Cut(address, "?")
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	if cluster {
		return goredis.New(redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{options.Addr}}))
	}
	return goredis.New(redis.NewClient(options))
}

func run(of *ledger.Ledger, address string, line []byte) (any, error) {
	if *of == nil {
		store, err := made(address)
		if err != nil {
			return nil, err
		}
		*of = store
	}
	var command struct {
		Script     string
		Keys, Args []string
		WithinMs   int64
	}
	if err := json.Unmarshal(line, &command); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	// A guard does not wait either for what does not heed its time.
	type outcome struct {
		reply []string
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		reply, err := (*of).Run(ctx, ledger.Command{
			Script: command.Script, Keys: command.Keys, Args: command.Args, Within: time.Duration(command.WithinMs) * time.Millisecond,
		})
		done <- outcome{reply, err}
	}()
	select {
	case found := <-done:
		return found.reply, found.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func main() {
	var store ledger.Ledger
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		reply, err := run(&store, os.Args[1], lines.Bytes())
		if err != nil {
			reply = map[string]string{"failed": fmt.Sprintf("%T: %v", err, err)}
		}
		if err := out.Encode(reply); err != nil {
			os.Exit(1)
		}
	}
}
