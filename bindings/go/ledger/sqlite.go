package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// SQLite is a ledger in a file: shared by the processes of one machine, and kept on restart. Goroutines may share it.
//
// A record that was answered survives a power loss; with [EndOfProcess] only the end of the process, in a fraction of the time.
// The file must not be on a network.
type SQLite struct {
	db     *sql.DB
	normal bool
	text   map[string]string
	// turn holds the connection, nil until it is made: one command at a time uses it.
	turn chan *sql.Conn
}

// A SQLiteOption sets up a [SQLite].
type SQLiteOption func(*SQLite)

// EndOfProcess lets an answered record survive the end of the process alone, and not a power loss.
func EndOfProcess() SQLiteOption { return func(s *SQLite) { s.normal = true } }

// opening is the time limit to open a file that other processes open too.
const opening = 5 * time.Second

// NewSQLite makes a ledger in a database of SQLite, by any driver. It keeps one connection of the database, and sets it up for
// itself; others may serve the program. The error is an [*Error] that says Unfit for a file that cannot be a ledger.
func NewSQLite(ctx context.Context, db *sql.DB, options ...SQLiteOption) (*SQLite, error) {
	if db == nil {
		return nil, &Error{Unfit: true, Message: "db: expected a database of SQLite, found nil"}
	}
	s := &SQLite{db: db, text: map[string]string{}, turn: make(chan *sql.Conn, 1)}
	for _, option := range options {
		option(s)
	}
	for _, name := range []string{"connect", "normal", "create", "begin", "now", "read", "write", "delete", "sweep"} {
		text, err := engine.LedgerText("sqlite-" + name)
		if err != nil {
			return nil, err
		}
		s.text[name] = text
	}
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, &Error{Unfit: true, Message: "db: expected a file of SQLite that can be written, found: " + err.Error()}
	}
	s.turn <- conn
	return s, nil
}

// connect returns a connection that is set up. To change to WAL does not wait for a lock of another process.
func (s *SQLite) connect(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for {
		err = s.setUp(ctx, conn)
		if err == nil || !strings.Contains(err.Error(), "locked") {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
			continue
		}
		break
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (s *SQLite) setUp(ctx context.Context, conn *sql.Conn) error {
	names := []string{"connect", "create"}
	if s.normal {
		names = append(names, "normal")
	}
	for _, name := range names {
		for statement := range strings.SplitSeq(s.text[name], ";") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}

// Run runs a command.
func (s *SQLite) Run(ctx context.Context, command Command) ([]string, error) {
	var conn *sql.Conn
	select {
	case conn = <-s.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.turn <- conn }()
	if conn == nil {
		made, err := s.connect(ctx)
		if err != nil {
			return nil, err
		}
		conn = made
	}
	_, err := conn.ExecContext(ctx, s.text["begin"])
	begun := err == nil
	var reply []string
	if begun {
		reply, err = s.transact(ctx, conn, command)
	}
	if err != nil {
		// Whatever ended the command must not leave its transaction open, which would lock others out. A BEGIN that failed may have
		// begun one; mostly there is none to roll back.
		_, failed := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		if failed != nil && begun || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
			_ = conn.Close()
			conn = nil
		}
	}
	return reply, err
}

func (s *SQLite) transact(ctx context.Context, conn *sql.Conn, command Command) ([]string, error) {
	var now int64
	if err := conn.QueryRowContext(ctx, s.text["now"]).Scan(&now); err != nil {
		return nil, err
	}
	values := make([]*string, len(command.Keys))
	for i, key := range command.Keys {
		var value string
		switch err := conn.QueryRowContext(ctx, s.text["read"], key, now).Scan(&value); {
		case err == nil:
			values[i] = &value
		case !errors.Is(err, sql.ErrNoRows):
			return nil, err
		}
	}
	judged, err := engine.Judge(document(command), now, values)
	if err != nil {
		return nil, err
	}
	for _, write := range judged.Writes {
		statement, arguments := s.text["delete"], []any{write.Key}
		if write.Value != nil {
			statement, arguments = s.text["write"], []any{write.Key, *write.Value, write.Until}
		}
		if _, err := conn.ExecContext(ctx, statement, arguments...); err != nil {
			return nil, err
		}
	}
	if len(judged.Writes) > 0 {
		if _, err := conn.ExecContext(ctx, s.text["sweep"], now); err != nil {
			return nil, err
		}
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return nil, err
	}
	return judged.Reply, nil
}

// Local tells that it uses the guard's clock.
func (s *SQLite) Local() bool { return true }

// Close gives the connection back; the database stays open.
func (s *SQLite) Close() error {
	conn := <-s.turn
	defer func() { s.turn <- nil }()
	if conn == nil {
		return nil
	}
	if err := conn.Close(); err != nil {
		return fmt.Errorf("sealwax: ledger: %w", err)
	}
	return nil
}
