package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
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
	// turn holds the connection, nil until it is made: one command at a time uses it.
	turn chan *sql.Conn
}

// A SQLiteOption sets up a [SQLite].
type SQLiteOption func(*SQLite)

// EndOfProcess lets an answered record survive the end of the process alone, and not a power loss.
func EndOfProcess() SQLiteOption { return func(s *SQLite) { s.normal = true } }

// NewSQLite makes a ledger in a database of SQLite, by any driver. It keeps one connection of the database, and sets it up for
// itself; others may serve the program. The error is an [*Error] that says Unfit for a file that cannot be a ledger.
func NewSQLite(ctx context.Context, db *sql.DB, options ...SQLiteOption) (*SQLite, error) {
	if db == nil {
		return nil, &Error{Unfit: true, Message: "db: expected a database of SQLite, found nil"}
	}
	s := &SQLite{db: db, turn: make(chan *sql.Conn, 1)}
	for _, option := range options {
		option(s)
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, &Error{Unfit: true, Message: "db: expected a file of SQLite that can be written, found: " + err.Error()}
	}
	s.turn <- conn
	return s, nil
}

// connect returns a connection that is set up.
func (s *SQLite) connect(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := talk(ctx, conn, map[string]bool{"durable": !s.normal}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
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
	reply, err := talk(ctx, conn, document(command))
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		_ = conn.Close()
		conn = nil
	}
	return reply, err
}

// talk does what the core says about a command, or about opening the file, and returns the ledger's reply.
func talk(ctx context.Context, conn *sql.Conn, about any) ([]string, error) {
	machine, next, err := engine.BeginSQLite(about)
	if err != nil {
		return nil, err
	}
	defer machine.Free()
	var failure error
	for {
		var rows []*string
		switch {
		case next.Done != nil:
			return next.Done, nil
		case next.Failed != "":
			if failure == nil {
				failure = errors.New(next.Failed)
			}
			return nil, failure
		case next.Wait > 0:
			failure = nil
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Duration(next.Wait) * time.Millisecond):
			}
		default:
			// What ends the command must not keep its transaction from being rolled back.
			in := ctx
			if failure != nil {
				in = context.WithoutCancel(ctx)
			}
			if rows, err = run(in, conn, next); failure == nil {
				failure = err
			}
		}
		if next, err = machine.On(rows, err); err != nil {
			return nil, err
		}
	}
}

// run runs statements, and returns what was read.
func run(ctx context.Context, conn *sql.Conn, next *engine.SQLiteNext) (rows []*string, err error) {
	for _, one := range next.Run {
		args := make([]any, len(one.Args))
		for i, arg := range one.Args {
			if arg != nil {
				args[i] = *arg
			}
		}
		if !one.Reads {
			if _, err := conn.ExecContext(ctx, one.SQL, args...); err != nil {
				return nil, err
			}
			continue
		}
		var row *string
		if err := conn.QueryRowContext(ctx, one.SQL, args...).Scan(&row); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
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
