package main

import (
	"testing"
	"time"
)

func TestLeft(t *testing.T) {
	for _, x := range []struct {
		took      time.Duration
		done, all int
		want      string
	}{
		{0, 0, 10, ""},
		{time.Minute, 0, 104, ", about 104 min more"},
		{time.Minute, 51, 104, ", about 1 min more"},
		{10 * time.Second, 40, 104, ", about 16s more"},
		{time.Minute, 104, 104, ""},
		{time.Second, 103, 104, ""},
	} {
		if got := left(x.took, x.done, x.all); got != x.want {
			t.Errorf("%v for %d of %d: %q, want %q", x.took, x.done, x.all, got, x.want)
		}
	}
}
