// Package tls holds the formats of specs/library/tls against what OpenSSL and Go's crypto/tls send: every
// record, and every message of a handshake before it is protected, is read and written again.
package tls

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// format is a protocol of the library.
type format struct {
	*model.Protocol
	strs *interp.Strings
}

func load(t *testing.T, name string) format {
	t.Helper()
	p, list := compile.Load("../../../specs/library/tls/"+name+".yaml", compile.Options{})
	if p == nil {
		t.Fatal(list)
	}
	return format{p, &interp.Strings{}}
}

// frame reads the first frame of b, which has to be written again as it is, and returns its name and size.
func (f format) frame(t *testing.T, b []byte) (string, int) {
	t.Helper()
	n, problem := interp.FrameSize(f.Protocol, b)
	if problem.Problem != 0 || n == 0 {
		t.Fatalf("%s: no frame in % x: %v", f.Name, b, problem)
	}
	m, slots, problem := interp.DecodeFrame(f.Protocol, f.strs, b[:n])
	if problem.Problem != 0 {
		t.Fatalf("%s: % x: %v", f.Name, b[:n], problem)
	}
	if again, problem := interp.AppendFrame(f.Protocol, f.strs, nil, m, slots); !bytes.Equal(again, b[:n]) {
		t.Errorf("%s: % x is written as % x, %v", f.Name, b[:n], again, problem)
	}
	return m.Name, n
}

// names reads what one side has sent and returns the names of the messages of its handshake, before it is
// protected.
func names(t *testing.T, sent []byte) (all []string) {
	t.Helper()
	if len(sent) == 0 {
		t.Fatal("nothing was sent")
	}
	const head = 5
	records, messages, first := load(t, "records"), load(t, "handshake"), load(t, "spec")
	if sent[head] == 1 { // a whole ClientHello
		if name, _ := first.frame(t, sent); name != "CLIENT_HELLO" {
			t.Errorf("the first record is %s", name)
		}
	}
	var handshake []byte
	protected := false
	for len(sent) > 0 {
		name, n := records.frame(t, sent)
		protected = protected || name == "CHANGE" || name == "DATA"
		if name == "HANDSHAKE" && !protected {
			handshake = append(handshake, sent[head:n]...)
		}
		sent = sent[n:]
	}
	for len(handshake) > 0 {
		name, n := messages.frame(t, handshake)
		all, handshake = append(all, name), handshake[n:]
	}
	return all
}

// between is a server that gives what comes to the one at an address, and keeps what goes both ways.
func between(t *testing.T, to string) (address string, ended func() (client, server []byte)) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var sent [2]bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, err := l.Accept()
		if err != nil {
			return
		}
		defer a.Close()
		b, err := net.Dial("tcp4", to)
		if err != nil {
			return
		}
		defer b.Close()
		var ways sync.WaitGroup
		for i, c := range [2][2]net.Conn{{a, b}, {b, a}} {
			ways.Go(func() {
				c[0].SetDeadline(time.Now().Add(daemon.Limit))
				io.Copy(io.MultiWriter(&sent[i], c[1]), c[0])
				c[1].(*net.TCPConn).CloseWrite()
			})
		}
		ways.Wait()
	}()
	return l.Addr().String(), func() ([]byte, []byte) {
		l.Close()
		<-done
		return sent[0].Bytes(), sent[1].Bytes()
	}
}

// certificate is one for 127.0.0.1, in files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	as := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	c, err := x509.CreateCertificate(rand.Reader, as, as, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: c},
		key: {Type: "EC PRIVATE KEY", Bytes: bytes}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// Who greets whom with what, by version. What comes behind it is protected, or goes over records of DATA.
var (
	client12 = []string{"CLIENT_HELLO", "CLIENT_KEY_EXCHANGE"}
	server12 = []string{"SERVER_HELLO", "CERTIFICATE", "SERVER_KEY_EXCHANGE", "SERVER_HELLO_DONE"}
	client13 = []string{"CLIENT_HELLO"}
	server13 = []string{"SERVER_HELLO"}
)

// TestGo: the formats are those of crypto/tls.
func TestGo(t *testing.T) {
	cert, key := certificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[uint16][2][]string{tls.VersionTLS12: {client12, server12},
		tls.VersionTLS13: {client13, server13}} {
		l, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if c, err := l.Accept(); err == nil {
				io.Copy(c, c)
				c.Close()
			}
		}()
		address, ended := between(t, l.Addr().String())
		c, err := tls.Dial("tcp4", address, &tls.Config{InsecureSkipVerify: true, MaxVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "hello")
		if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
			t.Error(err)
		}
		c.Close()
		client, server := ended()
		l.Close()
		if a, b := names(t, client), names(t, server); !slices.Equal(a, want[0]) || !slices.Equal(b, want[1]) {
			t.Errorf("%s: %v and %v, not %v", tls.VersionName(version), a, b, want)
		}
	}
}

// TestOpenSSL: and those of OpenSSL, as client and as server, with more or less in their greetings.
func TestOpenSSL(t *testing.T) {
	openssl := daemon.Path(t, "openssl")
	cert, key := certificate(t)
	asking12 := slices.Concat(server12[:3], []string{"CERTIFICATE_REQUEST"}, server12[3:],
		[]string{"NEW_SESSION_TICKET"})
	for _, x := range []struct {
		server, client string
		want           [2][]string
	}{
		{"-tls1_2 -no_ticket", "", [2][]string{client12, server12}},
		{"-tls1_2 -verify 1", "", [2][]string{{"CLIENT_HELLO", "CERTIFICATE", "CLIENT_KEY_EXCHANGE"}, asking12}},
		{"-tls1_3", "-servername parley.example -alpn h2,http/1.1 -status", [2][]string{client13, server13}},
		{"-tls1_3", "-ciphersuites TLS_AES_256_GCM_SHA384 -groups X448:P-521", [2][]string{client13, server13}},
	} {
		port := daemon.Port(t)
		daemon.Start(t, openssl, append([]string{"s_server", "-accept", "127.0.0.1:" + port, "-naccept", "1",
			"-cert", cert, "-key", key, "-quiet"}, strings.Fields(x.server)...)...).Await(t, func() error {
			return daemon.Bound(port)
		})
		address, ended := between(t, "127.0.0.1:"+port)
		ctx, stop := context.WithTimeout(t.Context(), daemon.Limit)
		defer stop()
		c := exec.CommandContext(ctx, openssl, append([]string{"s_client", "-connect", address},
			strings.Fields(x.client)...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", x, err, out)
		}
		client, server := ended()
		if a, b := names(t, client), names(t, server); !slices.Equal(a, x.want[0]) || !slices.Equal(b, x.want[1]) {
			t.Errorf("%s, %s: %v and %v, not %v", x.server, x.client, a, b, x.want)
		}
	}
}
