package sealwaxtest_test

import (
	"errors"
	"testing"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/sealwaxtest"
)

func TestATokenLivesTenMinutes(t *testing.T) {
	clock := sealwaxtest.NewClock(time.Unix(1_800_000_000, 0))
	codec := sealwaxtest.NewCodec(t, clock)
	user := sealwaxtest.NewUser(sealwax.Subject("alice"))
	view, err := codec.View(user.Principal())
	if err != nil {
		t.Fatal(err)
	}
	token, err := view.Cursor("tools/list").Seal([]byte("2"), sealwax.TTL(10*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(10*time.Minute - time.Second)
	opened, err := view.Cursor("tools/list").Open(token)
	if err != nil {
		t.Fatal(err)
	}
	if !opened.IssuedAt().Equal(time.Unix(1_800_000_000, 0)) {
		t.Error(opened.IssuedAt())
	}
	clock.Advance(time.Second)
	if _, err := view.Cursor("tools/list").Open(token); !errors.Is(err, sealwax.ErrExpired) {
		t.Error(err)
	}
	user.Set(sealwax.Subject("mallory"))
	clock.Set(time.Unix(1_800_000_000, 0))
	mallory, err := codec.View(user.Principal())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mallory.Cursor("tools/list").Open(token); !errors.Is(err, sealwax.ErrPrincipalMismatch) {
		t.Error(err)
	}
}
