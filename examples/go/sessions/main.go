// Sessions is a small MCP server with sessions: a counter, and a text that is written in a transaction.
//
//	export SEALWAX_KEYS="$(sealwax keygen)"
//	go run ./sessions                    # on stdio
//	PORT=8000 go run ./sessions          # on HTTP
//
// The server stores nothing: the client keeps each session, sealed, and sends it with its requests. With SEALWAX_LEDGER, the URL of
// a Redis or Valkey that all replicas share, sessions can be deleted, and of concurrent calls one counts: the others hear that their
// state is stale. With NOTES_JWT_SECRET, HTTP asks for a bearer token: a JWT, signed with HS256, of iss, sub, client_id, exp, and
// aud: the audience.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
	"sealwax.example/internal/serve"
)

const audience = "https://counter.example.com"

// value is that of a session; Draft is there in a transaction.
type value struct {
	Count int     `json:"count"`
	Draft *string `json:"draft,omitempty"`
}

type counter struct{ sessions *sealwaxmcp.Sessions[value] }

// tool runs in the session of a call, and logs it; every tool requires one.
type tool[In any] func(session *sealwaxmcp.Session[value], in In) (*mcp.CallToolResult, error)

func add[In any](c *counter, server *mcp.Server, name, description string, run tool[In]) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			session, err := c.sessions.Of(ctx)
			if err != nil {
				return nil, nil, err
			}
			// The ulid may be logged: unlike the session id, it gives no access.
			fmt.Fprintf(os.Stderr, "%s: session %s, generation %d\n", name, session.ULID(), session.Generation())
			result, err := run(session, in)
			return result, nil, err
		})
}

func told(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func noTransaction() *mcp.CallToolResult {
	result := told("no transaction: begin one")
	result.IsError = true
	return result
}

func count(session *sealwaxmcp.Session[value], _ struct{}) (*mcp.CallToolResult, error) {
	v := session.Value()
	v.Count++
	return told(strconv.Itoa(v.Count)), session.Write(v)
}

func begin(session *sealwaxmcp.Session[value], _ struct{}) (*mcp.CallToolResult, error) {
	v, draft := session.Value(), ""
	v.Draft = &draft
	return told("begun"), session.Write(v)
}

func read(session *sealwaxmcp.Session[value], _ struct{}) (*mcp.CallToolResult, error) {
	draft := session.Value().Draft
	if draft == nil {
		return noTransaction(), nil
	}
	return told(*draft), nil
}

type addition struct {
	Text string `json:"text"`
}

func write(session *sealwaxmcp.Session[value], in addition) (*mcp.CallToolResult, error) {
	v := session.Value()
	if v.Draft == nil {
		return noTransaction(), nil
	}
	draft := *v.Draft + in.Text
	v.Draft = &draft
	return told("written"), session.Write(v)
}

func end(session *sealwaxmcp.Session[value], _ struct{}) (*mcp.CallToolResult, error) {
	v := session.Value()
	if v.Draft == nil {
		return noTransaction(), nil
	}
	return told(*v.Draft), session.Write(value{Count: v.Count})
}

func run() error {
	guard, err := serve.Guard(audience)
	if err != nil {
		return err
	}
	initial := func(context.Context, *mcp.RequestExtra) (value, error) { return value{}, nil }
	sessions, err := sealwaxmcp.NewSessions(guard, initial, sealwaxmcp.RequiredTools("count", "begin", "read", "write", "end"))
	if err != nil {
		return err
	}
	c := &counter{sessions}
	server := mcp.NewServer(&mcp.Implementation{Name: "counter", Version: "1.0.0"}, nil)
	add(c, server, "count", "Return one more than last time in this session.", count)
	add(c, server, "begin", "Begin a transaction, with an empty text.", begin)
	add(c, server, "read", "Return the text so far.", read)
	add(c, server, "write", "Add to the text.", write)
	add(c, server, "end", "End the transaction, and return its text.", end)
	if err := guard.Protect(server); err != nil {
		return err
	}
	// Clients of older revisions get an Mcp-Session-Id, which any replica takes.
	return serve.Run(server, audience, func(h http.Handler) (http.Handler, error) { return guard.HTTP(h) })
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
