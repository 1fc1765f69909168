//go:build !linux

package tcp

import "net"

func newEngine(ln *net.TCPListener, cfg ServeConfig) (engine, error) { return newPooled(ln, cfg), nil }
