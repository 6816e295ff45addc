package engine

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/sealwax/sealwax-go/internal/host"
)

// A sealwax_caller is laid out as in the header.
func TestACallerIsLaidOutAsInTheHeader(t *testing.T) {
	text, err := os.ReadFile("../../../c/include/sealwax.wasm32.json")
	if os.IsNotExist(err) {
		t.Skip("the layout is not here")
	}
	var found map[string]struct {
		Size    int
		Members map[string]struct{ Offset int }
	}
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	caller := found["sealwax_caller"]
	if caller.Size != callerSize || caller.Members["anonymous"].Offset != callerAnonymous {
		t.Errorf("sealwax_caller: found %+v", caller)
	}
	texts := map[string]string{"issuer": "https://idp.example.com", "client": "cli-7", "subject": "alice"}
	pointer := func(name string) *string { text := texts[name]; return &text }
	err = host.Do(func(c *host.Call) error {
		at := callerOf(c, &Principal{Issuer: pointer("issuer"), Client: pointer("client"), Subject: pointer("subject"), Anonymous: true})
		for name, expected := range texts {
			place := at + host.Ptr(caller.Members[name].Offset)
			size := at + host.Ptr(caller.Members[name+"_len"].Offset)
			if written := c.String(c.Ptr(place), c.Uint32(size)); written != expected {
				t.Errorf("%s: expected %s, found %s", name, expected, written)
			}
		}
		if c.View(at, callerSize)[callerAnonymous] != 1 {
			t.Error("not anonymous")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
