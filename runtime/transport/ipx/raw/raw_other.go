//go:build !linux || 386 || s390x

package raw

import (
	"errors"
	"runtime"
)

// Open fails.
func Open(card string, cfg Config) (*Link, error) {
	return nil, errors.New("raw IPX needs Linux, and not on 386 or s390x; this is " + runtime.GOOS + "/" +
		runtime.GOARCH + ": use the tunnel of package ipx")
}
