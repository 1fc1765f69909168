package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkCommand is the time of the whole command, the process's start included. 300 ms are
// the aim for check.
func BenchmarkCommand(b *testing.B) {
	program := filepath.Join(b.TempDir(), "fsmgen")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, verb := range []string{"vet", "check"} {
		b.Run(verb, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(program, verb,
					"../../specs/confirm/spec.yaml").CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
}
