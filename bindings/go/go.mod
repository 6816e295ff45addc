module github.com/sealwax/sealwax-go

go 1.25.0

require golang.org/x/crypto v0.55.0

require golang.org/x/sys v0.47.0 // indirect
