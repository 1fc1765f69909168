package journal

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestNew: a second has so many lines, whoever writes them; what is left out is told.
func TestNew(t *testing.T) {
	var b bytes.Buffer
	l := New(&b)
	say := func(l *slog.Logger, second int64, what string) {
		l.Handler().Handle(t.Context(), slog.NewRecord(time.Unix(second, 0), slog.LevelInfo, what, 0))
	}
	for range 200 {
		say(l, 7, "flood")
		say(l.With("of", 2).WithGroup("g"), 7, "flood")
	}
	if n := strings.Count(b.String(), "flood"); n != eachSecond {
		t.Errorf("%d lines", n)
	}
	say(l, 8, "quiet")
	say(l, 9, "quiet")
	if s := b.String(); strings.Count(s, "lines=350") != 1 || strings.Count(s, "quiet") != 2 {
		t.Error(s)
	}
}
