module github.com/parley-go/parley/examples/skirmish/web

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/parley-go/parley v0.0.0
)

require golang.org/x/image v0.44.0 // indirect

replace github.com/parley-go/parley => ../../..
