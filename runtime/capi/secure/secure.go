// Package secure gives a library for C the links tls: and dtls:. A library imports it for its effect:
//
//	import _ "github.com/parley-go/parley/runtime/capi/secure"
//
// It is a module of its own, so that libraries that do not need it do not link cryptography. It knows
// files of certificates and the options of links, and no protocol. Start from [Wrap].
package secure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/parley-go/parley/runtime/capi"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/dtlslink"
	"github.com/parley-go/parley/runtime/transport/tlslink"
)

func init() {
	capi.RegisterLayer("tls", "tcp", Wrap)
	capi.RegisterLayer("dtls", "udp", WrapDatagrams)
}

// maxText is the longest option in bytes.
const maxText = 4096

// identity is what the options say of both ends.
type identity struct {
	certificate []tls.Certificate
	pins        []tlslink.Fingerprint
	roots       *x509.CertPool
	name        string
}

// options reads `certificate` and `key`, files in PEM: who this side is; `pin`, the fingerprints of
// the keys that the other side may have, with commas between them; `roots`, a file of authorities;
// and `name`, whom a client expects. A server has a certificate; a client says whom it expects by
// pin or name.
func options(o *capi.Params, server bool) (id identity, err error) {
	text := func(name string) string {
		if !o.Has(name) {
			return ""
		}
		return o.Text(name, maxText)
	}
	certificate, key, pins, roots := text("certificate"), text("key"), text("pin"), text("roots")
	id.name = text("name")
	if err := o.Err(); err != nil {
		return id, err
	}
	switch {
	case (certificate == "") != (key == ""):
		return id, errors.New("certificate and key are two files in PEM, and one is of no use without the other")
	case certificate != "":
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return id, fmt.Errorf("the certificate: %w", err)
		}
		id.certificate = []tls.Certificate{pair}
	case server:
		return id, errors.New(`a server shows who it is: {certificate: "FILE", key: "FILE"}`)
	}
	if pins != "" {
		for _, s := range strings.Split(pins, ",") {
			pin, err := tlslink.ParseFingerprint(strings.TrimSpace(s))
			if err != nil {
				return id, fmt.Errorf("pin: %w", err)
			}
			id.pins = append(id.pins, pin)
		}
	}
	if roots != "" {
		pem, err := os.ReadFile(roots)
		if err != nil {
			return id, fmt.Errorf("roots: %w", err)
		}
		if id.roots = x509.NewCertPool(); !id.roots.AppendCertsFromPEM(pem) {
			return id, fmt.Errorf("roots: %s has no certificate in PEM", roots)
		}
	}
	if !server && id.pins == nil && id.name == "" {
		return id, errors.New(`a client says whom it expects: {pin: "FINGERPRINT"} or {name: "HOST"}`)
	}
	return id, nil
}

// Wrap puts TLS 1.3 around a link that carries a stream.
func Wrap(ctx context.Context, inner transport.Link, server bool, o *capi.Params) (transport.Link, error) {
	id, err := options(o, server)
	if err != nil || inner == nil {
		return nil, abort(inner, err)
	}
	cfg := &tls.Config{Certificates: id.certificate, RootCAs: id.roots, ClientCAs: id.roots, ServerName: id.name}
	switch {
	case id.pins != nil:
		cfg = tlslink.Pin(cfg, id.pins...)
	case server && id.roots != nil:
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
	}
	shake := tlslink.Client
	if server {
		shake = tlslink.Server
	}
	l, err := shake(ctx, inner, cfg)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// WrapDatagrams puts DTLS 1.2 around a link that carries datagrams.
func WrapDatagrams(_ context.Context, inner transport.Link, server bool, o *capi.Params) (transport.Link, error) {
	id, err := options(o, server)
	if err != nil || inner == nil {
		return nil, abort(inner, err)
	}
	cfg := dtlslink.Config{Server: server, Keys: id.pins, Roots: id.roots, ServerName: id.name}
	if id.certificate != nil {
		cfg.Certificate = id.certificate[0]
	}
	l, err := dtlslink.Wrap(inner, cfg)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// abort gives a link up that is not used.
func abort(l transport.Link, err error) error {
	if l != nil {
		l.Abort()
	}
	return err
}
