package sealwax_test

import (
	"fmt"
	"testing"

	sealwax "github.com/sealwax/sealwax-go"
)

func BenchmarkSealer(b *testing.B) {
	view, err := newCodec().View(sealwax.Subject("alice"))
	if err != nil {
		b.Fatal(err)
	}
	sealer := view.Cursor("tools/list")
	for _, size := range []int{64, 256, 1024, 4096} {
		payload := make([]byte, size)
		token, err := sealer.Seal(payload)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("seal/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sealer.Seal(payload); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("open/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sealer.Open(token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("context", func(b *testing.B) {
		b.ReportAllocs()
		arguments := []byte(`{"query":"sealed tokens","limit":20,"tags":["a","b"]}`)
		for b.Loop() {
			if _, err := sealwax.NewRequestContext("tools/call", "search_code", arguments); err != nil {
				b.Fatal(err)
			}
		}
	})
}
