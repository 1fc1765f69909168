package usage

import (
	"bytes"
	"flag"
	"strings"
	"testing"
	"time"
)

func flags() *flag.FlagSet {
	f := flag.NewFlagSet("prog", flag.ContinueOnError)
	f.Duration("wait", time.Second, "how `long`")
	f.Int("count", 1, "how many")
	f.String("name", "", "whose")
	return f
}

// What is wrong is one line, and a second one says where to read on.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args   string
		code   int
		done   bool
		stdout string
		stderr string
	}{
		{"", 0, false, "", ""},
		{"-wait 3s -name x", 0, false, "", ""},
		{"-help", 0, true, "usage: prog [flags]\n  -count int\n", ""},
		{"-nosuch", 2, true, "", "prog: flag provided but not defined: -nosuch\nusage: prog [flags]; prog " +
			"-help explains them\n"},
		{"-wait soon", 2, true, "", "prog: invalid value \"soon\" for flag -wait: parse error\nusage: prog " +
			"[flags]; prog -help explains them\n"},
		{"-name", 2, true, "", "prog: flag needs an argument: -name\nusage: prog [flags]; prog -help explains them\n"},
		{"-count 2 3", 2, true, "", "prog: unexpected argument \"3\": there are flags only\nusage: prog " +
			"[flags]; prog -help explains them\n"},
	} {
		var out, err bytes.Buffer
		code, done := Parse(flags(), strings.Fields(tt.args), &out, &err)
		if code != tt.code || done != tt.done || !strings.HasPrefix(out.String(), tt.stdout) ||
			tt.stdout == "" && out.Len() > 0 || err.String() != tt.stderr {
			t.Errorf("%q: %d, %t, %q, %q", tt.args, code, done, out.String(), err.String())
		}
	}
}

func TestChecks(t *testing.T) {
	for args, want := range map[string]string{
		"":                  "",
		"-count 0 -wait 0s": "",
		"-count -2":         "-count -2: it is not negative",
		"-wait -2s":         "-wait -2s: it is not negative",
		"-wait 2s -name x":  "-name has no meaning with -x, with which there are -wait, -count",
	} {
		f := flags()
		if _, done := Parse(f, strings.Fields(args), &bytes.Buffer{}, &bytes.Buffer{}); done {
			t.Fatal(args)
		}
		err := NotNegative(f, "wait", "count")
		if err == nil {
			err = Only(f, "-x", "wait", "count")
		}
		if err != nil && strings.HasPrefix(args, "-wait 2s") {
			if w := Without(f, "-x", "name"); w == nil ||
				w.Error() != "-name has no meaning with -x; it is for whose" || Without(f, "-x", "count") != nil {
				t.Error(w)
			}
		}
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}
