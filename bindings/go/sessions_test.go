package sealwax

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

const day = 86_400

func sent(metadata SessionMetadata) json.RawMessage { return must(json.Marshal(metadata)) }

// Which session is good when is shown by the core, and by tests/driver in every language.
func TestASessionLivesOnThroughRenewals(t *testing.T) {
	view := viewFor(t, codecFor(t), "alice")
	sessions := view.Sessions()
	at(t, now*1000)
	created := must(sessions.Create([]byte("1")))
	same(t, "expires at", created.ExpiresAt, "2026-05-29T20:26:40Z")
	same(t, "expires at", must(view.Sessions(TTL(time.Minute)).Create(nil)).ExpiresAt, "2026-05-28T20:27:40Z")
	same(t, "expires at", must(view.Sessions(NoExpiry()).Create(nil)).ExpiresAt, "2026-06-27T20:26:40Z")
	verified := must(sessions.Verify(created.SessionID))
	same(t, "text", verified.Text(), created.SessionID)
	same(t, "age", verified.EndsAt().Sub(verified.CreatedAt()), 30*day*time.Second)
	at(t, (now+day-1)*1000)
	opened := must(sessions.Open(sent(created)))
	renewed := must(sessions.Renew(opened, []byte("2")))
	again := must(sessions.Open(sent(renewed)))
	same(t, "ids", renewed.SessionID == created.SessionID && opened.ID() == created.SessionID, true)
	same(t, "before", fmt.Sprintf("%s %d %v", opened.Payload(), opened.Generation(), opened.NeedsRenewal()), "1 0 true")
	same(t, "after", fmt.Sprintf("%s %d %d", again.Payload(), again.Generation(), again.StartedAt().Unix()), fmt.Sprint("2 1 ", now))
	forked := must(sessions.Open(sent(must(sessions.Fork(again)))))
	same(t, "fork", string(forked.Payload()) == "2" && forked.ID() != again.ID(), true)
	at(t, (now+day)*1000)
	refuses(t, ErrExpired, failure(sessions.Open(sent(created))))
}
