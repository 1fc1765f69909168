//go:build !linux

package raw

import (
	"errors"
	"runtime"
)

// Open fails.
func Open(card string, cfg Config) (*Link, error) {
	return nil, errors.New("raw IPX needs Linux; this is " + runtime.GOOS + ": use the tunnel of package ipx")
}
