package tftp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// files are what is transferred: an empty one, one with a last block of every kind, one of many blocks.
func files() map[string][]byte {
	out := map[string][]byte{}
	for name, size := range map[string]int{"empty": 0, "short": 511, "full": 512, "two": 1024, "long": 100_000} {
		r := rand.New(rand.NewPCG(1, uint64(size)))
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		out[name] = b
	}
	return out
}

func within(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), daemon.Limit)
	t.Cleanup(stop)
	return ctx
}

// server starts tftpd-hpa in a folder of the test. Only root may.
func server(t *testing.T) (address, folder string) {
	t.Helper()
	path := daemon.Path(t, "in.tftpd")
	if os.Getuid() != 0 {
		t.Skip("in.tftpd runs as root alone")
	}
	folder = t.TempDir()
	port := daemon.Port(t)
	address = "127.0.0.1:" + port
	p := daemon.Start(t, path, "-L", "-a", address, "-c", "-p", "-u", "root", "-s", folder)
	p.Await(t, func() error { return daemon.Bound(port) })
	return address, folder
}

// TestClient: our client and tftpd-hpa.
func TestClient(t *testing.T) {
	address, folder := server(t)
	for name, want := range files() {
		if err := os.WriteFile(filepath.Join(folder, name), want, 0o644); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := Get(within(t), dial(t, address), name, &got); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("reading %s: %d bytes of %d, %v", name, got.Len(), len(want), err)
		}
		if err := Put(within(t), dial(t, address), name+".up", bytes.NewReader(want)); err != nil {
			t.Errorf("writing %s: %v", name, err)
		}
		// Our end is done when the last block is acknowledged, which is when the server has it.
		if got, err := os.ReadFile(filepath.Join(folder, name+".up")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("writing %s: %d bytes of %d, %v", name, len(got), len(want), err)
		}
	}
}

// TestLosses: the same while our packets are lost now and then.
func TestLosses(t *testing.T) {
	address, folder := server(t)
	want := files()["long"][:5*512]
	if err := os.WriteFile(filepath.Join(folder, "f"), want, 0o644); err != nil {
		t.Fatal(err)
	}
	lossy := func(seed uint64) *impair.Link {
		l, err := impair.New(dial(t, address),
			impair.Config{Seed: seed, Faults: impair.Faults{Loss: 0.2, Duplicate: 0.3}})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	var got bytes.Buffer
	link := lossy(1)
	if err := Get(within(t), link, "f", &got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("reading: %d bytes of %d, %v", got.Len(), len(want), err)
	}
	if link.Stats().Lost == 0 {
		t.Error("no loss")
	}
	link = lossy(2)
	if err := Put(within(t), link, "up", bytes.NewReader(want)); err != nil {
		t.Errorf("writing: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "up")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("writing: %d bytes of %d, %v", len(got), len(want), err)
	}
	if link.Stats().Lost == 0 {
		t.Error("no loss")
	}
}

func dial(t *testing.T, address string) transport.Link {
	t.Helper()
	link, err := Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// memory has files that are not on a disk.
type memory struct {
	mu    sync.Mutex
	files map[string][]byte
	wrote chan string
}

func (m *memory) Open(name string) (io.Reader, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return bytes.NewReader(b), nil
}

func (m *memory) Create(name string) (io.WriteCloser, error) {
	return &written{memory: m, name: name}, nil
}

type written struct {
	bytes.Buffer
	memory *memory
	name   string
}

func (w *written) Close() error {
	w.memory.mu.Lock()
	w.memory.files[w.name] = w.Bytes()
	w.memory.mu.Unlock()
	w.memory.wrote <- w.name
	return nil
}

// TestServer: our server and curl.
func TestServer(t *testing.T) {
	curl := daemon.Path(t, "curl")
	if out, _ := daemon.Run(t, curl, "--version"); !strings.Contains(out, " tftp") {
		t.Skip("curl has no tftp here")
	}
	link, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	m := &memory{files: files(), wrote: make(chan string, 10)}
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, link, m) }()
	url := "tftp://" + link.LocalAddr().String() + "/"
	for name, want := range files() {
		got, err := exec(t, curl, nil, url+name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("curl has read %d bytes of %d of %s, %v", len(got), len(want), name, err)
		}
		if _, err := exec(t, curl, want, "-T", "-", url+name+".up"); err != nil {
			t.Errorf("curl writes %s: %v", name, err)
			continue
		}
		<-m.wrote
		m.mu.Lock()
		if !bytes.Equal(m.files[name+".up"], want) {
			t.Errorf("curl has written %d bytes of %d of %s", len(m.files[name+".up"]), len(want), name)
		}
		m.mu.Unlock()
	}
	if _, err := exec(t, curl, nil, url+"nothing"); err == nil || !strings.Contains(err.Error(), "exit status 68") {
		t.Errorf("a file that is not there: %v", err)
	}
	stop()
	<-ended
}

// exec runs curl with some input and returns what it has got.
func exec(t *testing.T, curl string, input []byte, args ...string) ([]byte, error) {
	t.Helper()
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in"), filepath.Join(folder, "out")
	if err := os.WriteFile(in, input, 0o644); err != nil {
		t.Fatal(err)
	}
	for i, a := range args {
		if a == "-" {
			args[i] = in
		}
	}
	said, err := daemon.Run(t, curl, append([]string{"-sS", "--max-time", "60", "-o", out}, args...)...)
	if err != nil {
		return nil, errors.Join(err, errors.New(said))
	}
	got, err := os.ReadFile(out)
	if os.IsNotExist(err) {
		err = nil // curl makes no file of nothing
	}
	return got, err
}
