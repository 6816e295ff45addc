// Command interoppeer is one language of the interop run (tests/driver): a request a line on stdin, its answer a line
// on stdout.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func seconds(text string) time.Duration { return time.Duration(must(strconv.Atoi(text))) * time.Second }

func parse(line string) request {
	fields := strings.Split(line, "\t")
	if len(fields) != 12 {
		panic(fmt.Errorf("expected 12 fields, found %d", len(fields)))
	}
	text := func(at int) string {
		if fields[at] == "anonymous" {
			return fields[at]
		}
		return string(must(hex.DecodeString(fields[at])))
	}
	r := request{
		op: fields[0], ring: text(1), audience: text(2), principal: text(3), kind: fields[4], label: text(5), sessionID: text(6),
		context: text(7), ttl: fields[8], payload: text(9), token: text(10),
	}
	if fields[11] != "" {
		r.limit = []sealwax.Limit{sealwax.MaxAge(seconds(fields[11]))}
	}
	return r
}

func (r request) view() *sealwax.View {
	codec := must(sealwax.New(must(sealwax.ParseKeyRing(r.ring)), r.audience))
	if r.principal == "anonymous" {
		return must(codec.Anonymous())
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
	return must(codec.View(principal))
}

func (r request) sealer() sealwax.Sealer {
	view := r.view()
	var context sealwax.RequestContext
	if len(r.context) == 32 {
		context = sealwax.RequestContextOf([32]byte([]byte(r.context)))
	}
	switch r.kind {
	case "state":
		return view.State(r.sessionID)
	case "request-state":
		return view.RequestState(context)
	case "session":
		return view.Session()
	case "cursor":
		return view.Cursor(r.label)
	case "handle-state":
		return view.HandleState(r.label)
	}
	var bindings []sealwax.Binding
	if r.sessionID != "" {
		bindings = append(bindings, sealwax.ToSession(r.sessionID))
	}
	if r.context != "" {
		bindings = append(bindings, sealwax.ToRequest(context))
	}
	return view.Custom(r.label, bindings...)
}

func (r request) lifetime() []sealwax.Lifetime {
	switch r.ttl {
	case "none":
		return []sealwax.Lifetime{sealwax.NoExpiry()}
	case "":
		return nil
	}
	return []sealwax.Lifetime{sealwax.TTL(seconds(r.ttl))}
}

func (r request) answer() []string {
	switch r.op {
	case "seal":
		return []string{must(r.sealer().Seal([]byte(r.payload), r.lifetime()...))}
	case "open":
		opened := must(r.sealer().Open(r.token, r.limit...))
		return []string{
			hex.EncodeToString(opened.Payload()), fmt.Sprint(opened.Generation()), flag[opened.NeedsReseal()], opened.TokenID(),
		}
	case "renew":
		sealer := r.sealer()
		return []string{must(sealer.Renew(must(sealer.Open(r.token, r.limit...)), []byte(r.payload), r.lifetime()...))}
	case "mint-session-id":
		return []string{must(r.view().MintSessionID())}
	case "mint-handle":
		return []string{must(r.view().MintHandle(r.label))}
	case "verify-session-id":
		return verified(must(r.view().VerifySessionID(r.token, r.limit...)))
	case "verify-handle":
		return verified(must(r.view().VerifyHandle(r.label, r.token, r.limit...)))
	}
	return r.session(r.view().Sessions(r.lifetime()...))
}

func verified(found *sealwax.Identifier) []string {
	return []string{fmt.Sprint(found.CreatedAt().UnixMilli()), flag[found.NeedsReseal()]}
}

func (r request) session(sessions sealwax.Sessions) []string {
	if r.op == "session-create" {
		return asJSON(sessions.Create([]byte(r.payload)))
	}
	session := must(sessions.Open(json.RawMessage(r.token)))
	switch r.op {
	case "session-renew":
		return asJSON(sessions.Renew(session, []byte(r.payload)))
	case "session-fork":
		return asJSON(sessions.Fork(session))
	case "session-open":
		return []string{hex.EncodeToString(session.Payload()), fmt.Sprint(session.Generation())}
	}
	panic(errors.New("unknown: " + r.op))
}

func asJSON(metadata sealwax.SessionMetadata, err error) []string {
	return []string{string(must(json.Marshal(must(metadata, err))))}
}

var flag = map[bool]string{true: "1", false: "0"}

// answered answers a line, also with the error of a call.
func answered(line string) (answer string) {
	defer func() {
		var refused *sealwax.Error
		found := recover()
		if err, ok := found.(error); ok && errors.As(err, &refused) {
			answer = "error\t" + string(refused.Code)
		} else if found != nil {
			panic(found)
		}
	}()
	return "ok\t" + strings.Join(parse(line).answer(), "\t")
}

func main() {
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Println(answered(strings.TrimSuffix(line, "\n")))
	}
}
