package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/internal/doctest"
)

// TestPage does what docs/PARSEC.md shows, on ports that are free.
func TestPage(t *testing.T) {
	t.Parallel()
	blocks := doctest.Page(t, "../../docs/PARSEC.md")
	if len(blocks) != 6 {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	bin := doctest.Build(t, ".", "./client")
	replaced := []string{"go run ./examples/parsec-server/", bin + "/", "go run ./examples/parsec-server",
		bin + "/parsec-server", "anna.rec", filepath.Join(bin, "anna.rec"), "-speed 10", "-speed 0"}
	ports := []string{"6502", "6581", "8080", "8081"}
	for i, free := range doctest.Free(t, len(ports)) {
		replaced = append(replaced, "127.0.0.1:"+ports[i], free)
	}
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	replaced = append(replaced, "127.0.0.1:6522", packets.LocalAddr().String())
	packets.Close()
	here := strings.NewReplacer(replaced...)
	lines := func(n int) []string { return strings.Split(strings.TrimSpace(here.Replace(blocks[n].Text)), "\n") }
	// run starts a command of the page, and returns its input and its output.
	run := func(line string) (in io.WriteCloser, out *bufio.Scanner) {
		cmd := doctest.Shell(t, line)
		cmd.Stderr = os.Stderr
		return doctest.Start(t, cmd)
	}
	until := func(out *bufio.Scanner, want string) {
		t.Helper()
		var got []string
		for out.Scan() {
			if got = append(got, out.Text()); strings.HasPrefix(out.Text(), want) {
				return
			}
		}
		t.Fatalf("%q is not printed, but %q", want, got)
	}
	// seen reads to the end, and returns what is not the server's greeting.
	seen := func(out *bufio.Scanner) (got []string) {
		for out.Scan() {
			if l := out.Text(); !strings.HasPrefix(l, "server: ") && !strings.HasPrefix(l, "/join") {
				got = append(got, l)
			}
		}
		return got
	}
	commands := lines(0)
	_, master := run(commands[0])
	until(master, "the list is at")
	_, game := run(commands[1])
	until(game, "the list is at")
	until(master, "1 server: Orbit 0/16")
	typed, anna := run(commands[2])
	io.WriteString(typed, here.Replace(blocks[1].Text))
	until(anna, "anna is here, slot 0")
	typed, bob := run(commands[3])
	io.WriteString(typed, here.Replace(blocks[2].Text))
	annas, bobs := seen(anna), seen(bob)
	want := lines(3)
	slices.Sort(want[:2]) // who has the greeting first
	if len(bobs) > 1 {
		slices.Sort(bobs[:2])
	}
	if !slices.Equal(bobs, want) {
		t.Errorf("Bob reads\n%s\nnot\n%s", strings.Join(bobs, "\n"), strings.Join(want, "\n"))
	}
	_, again := run(lines(4)[0])
	var played []string
	for _, l := range seen(again) {
		if _, what, ok := strings.Cut(l, " s  "); ok && !strings.HasPrefix(what, "server: ") {
			played = append(played, what)
		}
	}
	if len(annas) < 8 || !slices.Equal(played[1:], annas) {
		t.Errorf("Anna has seen\n%s\nand the recording has\n%s", strings.Join(annas, "\n"), strings.Join(played, "\n"))
	}
	byHand(t, here.Replace("127.0.0.1:6581"), lines(5))
}

// byHand says the lines after > over TCP, and expects those after <, of which a number may be another one.
func byHand(t *testing.T, address string, script []string) {
	a := dial(t, address)
	a.says("version: 1.0 join me: anna os: x", "join from anna accepted, slot: 0, server name: Orbit")
	digits := regexp.MustCompile(`slot: \d+`)
	v := dial(t, address)
	for _, line := range script {
		if what, ok := strings.CutPrefix(line, "> "); ok {
			io.WriteString(v.conn, what+"\r\n")
			continue
		}
		for {
			got, err := v.r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			got = strings.TrimSpace(got)
			if strings.HasPrefix(got, "key: ") || strings.HasPrefix(got, "add ip: ") {
				continue
			}
			if "< "+digits.ReplaceAllString(got, "slot: 0") != line {
				t.Errorf("the server says %q, not %q", got, line)
			}
			break
		}
	}
}
