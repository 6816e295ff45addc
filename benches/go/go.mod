module sealwax.bench

go 1.26.0

require (
	github.com/golang-jwt/jwt/v5 v5.3.1
	github.com/gorilla/securecookie v1.1.2
	github.com/sealwax/sealwax-go v0.0.0
)

require (
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/sealwax/sealwax-go => ../../bindings/go
