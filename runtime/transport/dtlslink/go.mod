module github.com/parley-go/parley/runtime/transport/dtlslink

go 1.26.0

require (
	github.com/parley-go/parley v0.0.0
	github.com/parley-go/parley/runtime/transport/tlslink v0.0.0
	github.com/pion/dtls/v3 v3.1.15
	github.com/pion/transport/v5 v5.0.0
)

require (
	github.com/pion/logging v0.2.4 // indirect
	golang.org/x/crypto v0.48.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace (
	github.com/parley-go/parley => ../../..
	github.com/parley-go/parley/runtime/transport/tlslink => ../tlslink
)
