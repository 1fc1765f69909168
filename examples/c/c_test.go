// Package c has a client in C, client/setup.c, and the library it is linked with, lib.
// Its test builds both ways of linking and plays with a peer in Go.
package c

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/machines/setup"
	"github.com/parley-go/parley/runtime/driver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

const header = "../../runtime/capi"

// command runs a program and fails with what it printed.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// build links client/setup.c with the library as an archive or a shared object.
func build(t *testing.T, shared bool) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the test knows the C compilers of Unix")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) here: the client in C is not built")
	}
	dir := t.TempDir()
	mode, library := "c-archive", filepath.Join(dir, "libparley.a")
	if shared {
		mode, library = "c-shared", filepath.Join(dir, "libparley.so")
	}
	command(t, "go", "build", "-buildmode="+mode, "-o", library, "./lib")
	program := filepath.Join(dir, "setup")
	args := []string{"-Wall", "-Wextra", "-Werror", "-std=c99", "-I", header, "-o", program, "client/setup.c", library, "-lpthread"}
	if shared {
		args = append(args, "-Wl,-rpath,"+dir)
	}
	if runtime.GOOS == "darwin" {
		args = append(args, "-framework", "CoreFoundation", "-framework", "Security")
	}
	command(t, cc, args...)
	return program
}

// peer is a side in Go that listens, changes property 1 to 9, and confirms. It
// returns its address, and the machine once it has ended.
func peer(t *testing.T) (address string, ended <-chan setup.Peer) {
	t.Helper()
	ln, err := tcp.Listen("tcp4", "127.0.0.1:0", tcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	done := make(chan setup.Peer, 1)
	go func() {
		link, err := ln.AcceptOne(ctx)
		if err != nil {
			done <- setup.Peer{}
			return
		}
		r, err := setup.NewPeerRunner(1)
		var d *driver.Driver[*setup.PeerRunner]
		post := func(f func(*setup.PeerRunner) fsm.Result) { d.Post(f) }
		d = driver.New(r, driver.Options[*setup.PeerRunner]{StopAtFinal: true,
			OnLink: func(_ *setup.PeerRunner, _ fsm.Peer, up bool, _ error) {
				if up {
					post(func(r *setup.PeerRunner) fsm.Result { return r.Change(1, 9) })
					post((*setup.PeerRunner).Confirm)
				}
			},
			OnReport: func(*setup.PeerRunner, int) { post((*setup.PeerRunner).Confirm) }})
		if err == nil && d.Attach(0, link) == nil {
			d.Run(ctx)
		}
		done <- r.Machine
	}()
	return ln.Addr().String(), done
}

func TestClientInC(t *testing.T) {
	for name, shared := range map[string]bool{"archive": false, "shared object": true} {
		t.Run(name, func(t *testing.T) {
			program := build(t, shared)
			address, ended := peer(t)
			out := command(t, program, "tcp:"+address, "0", "7")
			for _, want := range []string{"connected\n", "the peer sets property 1 to 9\n", "both sides agree\n", "done{index: 0,"} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			m := <-ended
			if m.State != setup.StateDone || m.Update[0].Own != 7 || m.Update[1].Own != 9 {
				t.Errorf("the peer in Go has %+v", m)
			}
		})
	}
}

// TestClientSaysWhatIsWrong: errors reach C as text.
func TestClientSaysWhatIsWrong(t *testing.T) {
	program := build(t, false)
	out, err := exec.Command(program, "carrier:pigeon", "0", "7").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a link begins with tcp:, udp: or ipx:, or is own") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHeaderIsWhole: the header declares what the library exports, and speaks of nothing else.
func TestHeaderIsWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(header, "parley.h"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(header, "exports.go"))
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//export (\w+)$`).FindAllStringSubmatch(string(source), -1) {
		exported[m[1]] = true
	}
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^int64_t (parley_\w+)\(`).FindAllStringSubmatch(string(text), -1) {
		declared[m[1]] = true
		if !exported[m[1]] {
			t.Errorf("%s is declared and not there", m[1])
		}
	}
	if len(exported) != len(declared) || len(exported) == 0 {
		t.Errorf("%d functions are exported, %d declared", len(exported), len(declared))
	}
}
