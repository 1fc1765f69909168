//go:build !js

// Command client is Skirmish in a browser: the gateway compiles it with GOOS=js and GOARCH=wasm.
package main

func main() {}
