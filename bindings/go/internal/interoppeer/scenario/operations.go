package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/engine"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

type handleOptions struct {
	MaxAge, TTL               *int64
	Once, SelfContained, Keep bool
	By                        any
	Argument, List            *string
}

// did returns the outcome of an operation.
func (s *stage) did(ctx context.Context, req mcp.Request, one told) any {
	done, err := s.operate(ctx, req, one)
	var handle *sealwaxmcp.HandleRefused
	var link *sealwaxmcp.LinkRefused
	var mistake *sealwax.Error
	switch {
	case err == nil:
		return done
	case errors.As(err, &link) && link.Status == http.StatusNotFound, errors.As(err, &handle) && errors.Is(err, sealwax.ErrRefused):
		return map[string]any{"refused": true}
	case link != nil, handle != nil:
		return map[string]any{"failed": true}
	case errors.As(err, &mistake):
		return map[string]any{"error": mistake.Code}
	}
	panic(err)
}

func (s *stage) operate(ctx context.Context, req mcp.Request, one told) (any, error) {
	switch one.Do {
	case "state":
		state, ok, err := sealwaxmcp.Opened[json.RawMessage](ctx, req)
		if !ok {
			return nil, err
		}
		return string(state), nil
	case "idempotencyKey":
		return s.guard.IdempotencyKey(ctx)
	case "sessionId":
		if id := sealwaxmcp.SessionID(ctx); id != "" {
			return id, nil
		}
		return nil, nil
	case "session":
		return s.session(ctx), nil
	case "write", "fork":
		session, err := s.sessions.Of(ctx)
		if err != nil {
			return nil, err
		}
		if one.Do == "fork" {
			return session.Fork()
		}
		return "ok", session.Write(one.Given[0])
	case "cursor":
		made, err := s.guard.Cursor(ctx, one.Given[0], cursorOptions(one.Options)...)
		return named(made), err
	case "position":
		position, ok, err := sealwaxmcp.Position[json.RawMessage](ctx, cursorOptions(one.Options)...)
		if !ok {
			position = nil
		}
		return map[string]any{"position": position}, err
	case "link", "follow":
		return s.onLinks(ctx, one)
	}
	return s.onHandles(ctx, one)
}

func (s *stage) onHandles(ctx context.Context, one told) (any, error) {
	var kind, handle string
	must(0, json.Unmarshal(one.Given[0], &kind))
	ages := with(nil, one.Options.MaxAge, sealwaxmcp.MaxAge)
	rows := must(s.guard.ReferenceHandles(kind, ages...))
	ages = when(ages, one.Options.Once, sealwaxmcp.SingleUse())
	baskets := must(sealwaxmcp.NewSelfContainedHandles[json.RawMessage](s.guard, kind, ages...))
	switch one.Do {
	case "mint":
		made, err := rows.Mint(ctx)
		return named(made.Handle), err
	case "mintShort":
		var number uint32
		must(0, json.Unmarshal(one.Given[1], &number))
		made, err := rows.MintShort(ctx, number)
		return named(made), err
	case "seal":
		made, err := baskets.Seal(ctx, one.Given[1])
		return named(made.Handle), err
	}
	must(0, json.Unmarshal(one.Given[1], &handle))
	switch one.Do {
	case "check":
		made, err := rows.Check(ctx, handle)
		return named(made.Handle), err
	case "checkShort":
		number, err := rows.CheckShort(ctx, handle)
		return map[string]any{"value": number}, err
	case "end":
		if one.Options.SelfContained {
			return "ok", baskets.End(ctx, handle)
		}
		return "ok", rows.End(ctx, handle)
	}
	opened, err := baskets.Open(ctx, handle)
	if err != nil {
		return nil, err
	}
	if one.Do == "open" {
		return map[string]any{"value": opened.Value, "generation": opened.Generation}, nil
	}
	made, err := baskets.Renew(ctx, opened, one.Given[2])
	return named(made.Handle), err
}

func (s *stage) onLinks(ctx context.Context, one told) (any, error) {
	var name, link string
	must(0, json.Unmarshal(one.Given[0], &name))
	options := with(nil, one.Options.TTL, sealwaxmcp.LinkTTL)
	options = when(options, one.Options.Once, sealwaxmcp.LinkOnce())
	links := must(sealwaxmcp.NewLinks[json.RawMessage](s.guard, name, options...))
	if one.Do == "link" {
		made, err := links.Seal(ctx, one.Given[1])
		return named(made), err
	}
	must(0, json.Unmarshal(one.Given[1], &link))
	how := when(nil, one.Options.Keep, sealwaxmcp.KeepLink())
	if by := personOf(one.Options.By); !by.IsNobody() {
		how = append(how, sealwaxmcp.OpenedBy(by))
	} else if one.Options.By != nil {
		// Authors have no name for whoever is anonymous.
		how = append(how, func(op *engine.HandleOp) error { op.By = &engine.Principal{Anonymous: true}; return nil })
	}
	opened, err := links.Open(ctx, link, how...)
	if err != nil {
		return nil, err
	}
	return map[string]any{"value": opened.Value, "principal": partsOf(opened.Principal)}, nil
}

func partsOf(person sealwax.Principal) map[string]any {
	if person.IsNobody() {
		return map[string]any{"anonymous": true}
	}
	found := map[string]any{}
	for name, part := range map[string]func() (string, bool){
		"issuer": person.Issuer, "client": person.Client, "subject": person.Subject,
	} {
		if text, ok := part(); ok {
			found[name] = text
		}
	}
	return found
}

func cursorOptions(given handleOptions) []sealwaxmcp.CursorOption {
	options := with(nil, given.TTL, sealwaxmcp.CursorTTL)
	if given.Argument != nil {
		options = append(options, sealwaxmcp.CursorArgument(*given.Argument))
	}
	if given.List != nil {
		options = append(options, sealwaxmcp.CursorList(*given.List))
	}
	return options
}

func named(handle string) any { return map[string]any{"handle": handle} }
