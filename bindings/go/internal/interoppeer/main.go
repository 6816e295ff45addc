// Command interoppeer is one language of the interop run (tests/driver): a request a line on stdin, its answer a line
// on stdout.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
)

// request has texts as they are; in the line they are in hex.
type request struct {
	op, ring, audience, principal, kind, label, sessionID, context, ttl, payload, token string
	limit                                                                               []sealwax.Limit
}

func parse(line string) (r request, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 12 {
		return r, fmt.Errorf("expected 12 fields, found %d", len(fields))
	}
	text := func(at int) string {
		if fields[at] == "anonymous" {
			return fields[at]
		}
		found, wrong := hex.DecodeString(fields[at])
		err = errors.Join(err, wrong)
		return string(found)
	}
	r = request{
		op: fields[0], ring: text(1), audience: text(2), principal: text(3), kind: fields[4], label: text(5), sessionID: text(6),
		context: text(7), ttl: fields[8], payload: text(9), token: text(10),
	}
	if fields[11] != "" {
		seconds, wrong := strconv.Atoi(fields[11])
		err = errors.Join(err, wrong)
		r.limit = []sealwax.Limit{sealwax.MaxAge(time.Duration(seconds) * time.Second)}
	}
	return r, err
}

func (r request) view() (*sealwax.View, error) {
	ring, err := sealwax.ParseKeyRing(r.ring)
	if err != nil {
		return nil, err
	}
	codec, err := sealwax.New(ring, r.audience)
	if err != nil {
		return nil, err
	}
	if r.principal == "anonymous" {
		return codec.Anonymous()
	}
	parts := strings.Split(r.principal, "\x00")
	var principal sealwax.Principal
	if parts[2] != "" {
		principal = sealwax.Subject(parts[2])
	}
	if parts[1] != "" {
		principal = principal.WithClient(parts[1])
	}
	if parts[0] != "" {
		principal = principal.WithIssuer(parts[0])
	}
	return codec.View(principal)
}

func (r request) sealer() (sealwax.Sealer, error) {
	view, err := r.view()
	if err != nil {
		return sealwax.Sealer{}, err
	}
	var context sealwax.RequestContext
	if len(r.context) == 32 {
		context = sealwax.RequestContextOf([32]byte([]byte(r.context)))
	}
	switch r.kind {
	case "state":
		return view.State(r.sessionID), nil
	case "request-state":
		return view.RequestState(context), nil
	case "session":
		return view.Session(), nil
	case "cursor":
		return view.Cursor(r.label), nil
	case "handle-state":
		return view.HandleState(r.label), nil
	}
	var bindings []sealwax.Binding
	if r.sessionID != "" {
		bindings = append(bindings, sealwax.ToSession(r.sessionID))
	}
	if r.context != "" {
		bindings = append(bindings, sealwax.ToRequest(context))
	}
	return view.Custom(r.label, bindings...), nil
}

func (r request) lifetime() []sealwax.Lifetime {
	if r.ttl == "none" {
		return []sealwax.Lifetime{sealwax.NoExpiry()}
	}
	seconds, err := strconv.Atoi(r.ttl)
	if err != nil {
		return nil
	}
	return []sealwax.Lifetime{sealwax.TTL(time.Duration(seconds) * time.Second)}
}

func (r request) answer() ([]string, error) {
	switch r.op {
	case "seal", "open", "renew":
		sealer, err := r.sealer()
		if err != nil {
			return nil, err
		}
		return r.sealed(sealer)
	}
	view, err := r.view()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(r.op, "session-") {
		return r.session(view.Sessions(r.lifetime()...))
	}
	return r.identifier(view)
}

func (r request) sealed(sealer sealwax.Sealer) ([]string, error) {
	if r.op == "seal" {
		token, err := sealer.Seal([]byte(r.payload), r.lifetime()...)
		return []string{token}, err
	}
	opened, err := sealer.Open(r.token, r.limit...)
	if err != nil {
		return nil, err
	}
	if r.op == "renew" {
		token, err := sealer.Renew(opened, []byte(r.payload), r.lifetime()...)
		return []string{token}, err
	}
	return []string{
		hex.EncodeToString(opened.Payload()), fmt.Sprint(opened.Generation()), flag(opened.NeedsReseal()), opened.TokenID(),
	}, nil
}

func (r request) identifier(view *sealwax.View) (fields []string, err error) {
	text, found := "", (*sealwax.Identifier)(nil)
	switch r.op {
	case "mint-session-id":
		text, err = view.MintSessionID()
	case "mint-handle":
		text, err = view.MintHandle(r.label)
	case "verify-session-id":
		found, err = view.VerifySessionID(r.token, r.limit...)
	case "verify-handle":
		found, err = view.VerifyHandle(r.label, r.token, r.limit...)
	default:
		log.Fatalf("unknown: %s", r.op)
	}
	if found == nil {
		return []string{text}, err
	}
	return []string{fmt.Sprint(found.CreatedAt().UnixMilli()), flag(found.NeedsReseal())}, err
}

func (r request) session(sessions sealwax.Sessions) ([]string, error) {
	if r.op == "session-create" {
		return asJSON(sessions.Create([]byte(r.payload)))
	}
	session, err := sessions.Open(json.RawMessage(r.token))
	if err != nil {
		return nil, err
	}
	switch r.op {
	case "session-renew":
		return asJSON(sessions.Renew(session, []byte(r.payload)))
	case "session-fork":
		return asJSON(sessions.Fork(session))
	}
	return []string{hex.EncodeToString(session.Payload()), fmt.Sprint(session.Generation())}, nil
}

func asJSON(value any, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(value)
	return []string{string(text)}, err
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func main() {
	log.SetFlags(0)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		r, err := parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			log.Fatal(err)
		}
		fields, err := r.answer()
		var refused *sealwax.Error
		switch {
		case errors.As(err, &refused):
			fmt.Printf("error\t%s\n", refused.Code)
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("ok\t" + strings.Join(fields, "\t"))
		}
	}
}
