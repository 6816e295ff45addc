module sealwax.example/ledger-agent

go 1.25.0

require (
	github.com/ncruces/go-sqlite3 v0.35.1
	github.com/redis/go-redis/v9 v9.22.0
	github.com/sealwax/sealwax-go v0.0.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/ncruces/go-sqlite3-wasm/v3 v3.1.35302 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/crypto v0.55.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace github.com/sealwax/sealwax-go => ../../../bindings/go
