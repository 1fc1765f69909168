package compile

import "io"

// readLimited reads at most limit bytes; what comes behind is left unread.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, limit))
}
