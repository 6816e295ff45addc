package engine

import (
	"testing"

	"github.com/sealwax/sealwax-go/internal/host"
)

func TestAFrameTellsWhatIsAbsentFromWhatIsNoText(t *testing.T) {
	empty := ""
	f := frame{kindResult, flagTTL, []text{optional(nil), optional(&empty), value(true), value("a"), value(nil), raw(nil), number(10)}}
	expected := "\x11\x07\x20\x00" +
		"\xff\xff\xff\xff" + "\x00\x00\x00\x00" + "\xfe\xff\xff\xff" + "\x01\x00\x00\x00" +
		"\xff\xff\xff\xff" + "\xff\xff\xff\xff" + "\x02\x00\x00\x00" + "a10"
	err := host.Do(func(c *host.Call) error {
		at, size := f.put(c)
		if found := c.String(at, uint32(size)); found != expected {
			t.Errorf("expected %q, found %q", expected, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
