package sealwax

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

const day = 86_400

func sent(metadata SessionMetadata) json.RawMessage { return must(json.Marshal(metadata)) }

func TestASessionLivesOnThroughRenewals(t *testing.T) {
	sessions := viewFor(t, codecFor(t), "alice").Sessions()
	at(t, now*1000)
	created := must(sessions.Create([]byte("1")))
	same(t, "expires at", created.ExpiresAt, "2026-05-29T20:26:40Z")
	at(t, (now+day-1)*1000)
	opened := must(sessions.Open(sent(created)))
	renewed := must(sessions.Renew(opened, []byte("2")))
	again := must(sessions.Open(sent(renewed)))
	same(t, "ids", renewed.SessionID == created.SessionID && opened.ID() == created.SessionID, true)
	same(t, "before", fmt.Sprintf("%s %d", opened.Payload(), opened.Generation()), "1 0")
	same(t, "after", fmt.Sprintf("%s %d %d", again.Payload(), again.Generation(), again.StartedAt().Unix()), fmt.Sprint("2 1 ", now))
	at(t, (now+day)*1000)
	_, err := sessions.Open(sent(created))
	refuses(t, ErrExpired, err)
}

func TestAForkGoesItsOwnWay(t *testing.T) {
	sessions := viewFor(t, codecFor(t), "alice").Sessions()
	opened := must(sessions.Open(sent(must(sessions.Create([]byte(`{"step":1}`))))))
	forked := must(sessions.Open(sent(must(sessions.Fork(opened)))))
	same(t, "payload", string(forked.Payload()), `{"step":1}`)
	same(t, "ids", forked.ID() != opened.ID(), true)
}

func TestLimitsOfLife(t *testing.T) {
	view := viewFor(t, codecFor(t), "alice")
	at(t, now*1000)
	same(t, "expires at", must(view.Sessions(TTL(time.Minute)).Create(nil)).ExpiresAt, "2026-05-28T20:27:40Z")
	endless := must(view.Sessions(NoExpiry()).Create(nil))
	same(t, "expires at", endless.ExpiresAt, "2026-06-27T20:26:40Z")
	at(t, (now+30*day)*1000)
	_, err := view.Sessions().Open(sent(endless))
	refuses(t, ErrExpired, err)
	_, err = view.Sessions().Verify(endless.SessionID)
	refuses(t, ErrExpired, err)
}

func TestASessionIsItsPrincipals(t *testing.T) {
	codec := codecFor(t)
	sessions := viewFor(t, codec, "alice").Sessions()
	created := must(sessions.Create(nil))
	verified := must(sessions.Verify(created.SessionID))
	same(t, "text", verified.Text(), created.SessionID)
	same(t, "age", verified.EndsAt().Sub(verified.CreatedAt()), 30*24*time.Hour)
	_, err := viewFor(t, codec, "mallory").Sessions().Open(sent(created))
	refuses(t, ErrPrincipalMismatch, err)
}

func TestWhatAClientMaySend(t *testing.T) {
	sessions := viewFor(t, codecFor(t), "alice").Sessions()
	created, other := must(sessions.Create([]byte("1"))), must(sessions.Create([]byte("2")))
	id, state := created.SessionID, created.State
	found := must(sessions.Open(json.RawMessage(fmt.Sprintf(`{"sessionId":%q,"state":%q,"expiresAt":7,"more":[]}`, id, state))))
	same(t, "payload", string(found.Payload()), "1")
	_, err := sessions.Open(sent(SessionMetadata{SessionID: id, State: other.State}))
	refuses(t, ErrUnauthentic, err)
	for _, wrong := range []string{
		fmt.Sprintf(`{"sessionId":%q}`, id), "{}", "[]", "null", "", "NaN", fmt.Sprintf(`{"sessionId":%q,"state":7}`, id),
		fmt.Sprintf(`{"sessionId":%q,"state":%q,"state":%q}`, id, state, state),
		fmt.Sprintf(`{"sessionId":%q,"state":%q,"more":[NaN]}`, id, state),
	} {
		_, err := sessions.Open(json.RawMessage(wrong))
		refuses(t, ErrMalformed, err)
	}
}
