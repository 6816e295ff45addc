package sealwax

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Go's FIPS 140-only mode, which is set when a program starts, does not allow the cipher: each call says so.
func TestFIPSOnlyMode(t *testing.T) {
	if os.Getenv("SEALWAX_IN_FIPS_MODE") == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestFIPSOnlyMode$", "-test.v")
		again.Env = append(os.Environ(), "GODEBUG=fips140=only", "SEALWAX_IN_FIPS_MODE=1")
		if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	for range 2 {
		_, err := GenerateKey()
		refuses(t, ErrInternalError, err)
		_, err = ParseKeyRing(keyText)
		refuses(t, ErrInternalError, err)
		if !strings.Contains(err.Error(), "FIPS") {
			t.Error(err)
		}
	}
}
