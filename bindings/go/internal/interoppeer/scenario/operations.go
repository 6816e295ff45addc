package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

type handleOptions struct {
	MaxAge              *int64
	Once, SelfContained bool
}

// did returns the outcome of an operation.
func (s *stage) did(ctx context.Context, req mcp.Request, one told) any {
	done, err := s.operate(ctx, req, one)
	var handle *sealwaxmcp.HandleRefused
	var mistake *sealwax.Error
	switch {
	case err == nil:
		return done
	case errors.As(err, &handle) && errors.Is(err, sealwax.ErrRefused):
		return map[string]any{"refused": true}
	case errors.As(err, &handle):
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
	}
	return s.onHandles(ctx, one)
}

func (s *stage) onHandles(ctx context.Context, one told) (any, error) {
	var kind, handle string
	must(0, json.Unmarshal(one.Given[0], &kind))
	ages := with(nil, one.Options.MaxAge, sealwaxmcp.MaxAge)
	rows := must(s.guard.ReferenceHandles(kind, ages...))
	if one.Options.Once {
		ages = append(ages, sealwaxmcp.SingleUse())
	}
	baskets := must(sealwaxmcp.NewSelfContainedHandles[json.RawMessage](s.guard, kind, ages...))
	switch one.Do {
	case "mint":
		made, err := rows.Mint(ctx)
		return named(made.Handle), err
	case "seal":
		made, err := baskets.Seal(ctx, one.Given[1])
		return named(made.Handle), err
	}
	must(0, json.Unmarshal(one.Given[1], &handle))
	switch one.Do {
	case "check":
		made, err := rows.Check(ctx, handle)
		return named(made.Handle), err
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

func named(handle string) any { return map[string]any{"handle": handle} }
