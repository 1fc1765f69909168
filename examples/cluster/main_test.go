package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestMain is also the program: a trial starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-serve" {
		main()
	}
	os.Exit(m.Run())
}

// A trial with real processes, one of which is killed.
func TestTrial(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	args := "-nodes 3 -lobbies 24 -joins 40 -matches 3 -players 8 -kill -lease 2s"
	if code := run(t.Context(), strings.Fields(args), &out, &errs); code != 0 {
		t.Fatalf("%d\n%s%s", code, out.String(), errs.String())
	}
	for _, want := range []string{`(?m)^3 servers at `, `(?m)^24 lobbies made, with a player in each in .* a second`,
		`(?m)^40 players joined and left`, `(?m)^3 matches of two were a second old`} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("nothing like %s in\n%s", want, out.String())
		}
	}
	t.Log("\n" + out.String())
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-nodes 0":                        "-nodes 0: 1 to 64",
		"-kill -nodes 1":                  "-kill: another server has to be there",
		"-serve -lobbies 3":               "-lobbies has no meaning with -serve",
		"-listen :1":                      "-listen has no meaning with a trial",
		"-lobbies 0":                      "-lobbies are 1 to 100,000",
		"-players -1":                     "-players -1: it is not negative",
		"-nats nats://x:1 -dir d":         "-nats names another",
		"-serve -listen nowhere":          "missing port in address",
		"-serve -listen 192.0.2.1:1":      "cannot assign requested address",
		"-serve -nats nats://127.0.0.1:1": "",
	} {
		var out, errs bytes.Buffer
		code := run(context.Background(), strings.Fields(args), &out, &errs)
		if want == "" {
			if code != 1 || !strings.Contains(errs.String(), "nats at nats://127.0.0.1:1") {
				t.Errorf("%s: %d %s", args, code, errs.String())
			}
			continue
		}
		if code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %d %s", args, code, errs.String())
		}
	}
}
