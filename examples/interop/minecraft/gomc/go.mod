module github.com/parley-go/parley/examples/interop/minecraft/gomc

go 1.26.0

require (
	github.com/Tnze/go-mc v1.20.2
	github.com/parley-go/parley v0.0.0
)

require github.com/google/uuid v1.3.0 // indirect

replace github.com/parley-go/parley => ../../../..
