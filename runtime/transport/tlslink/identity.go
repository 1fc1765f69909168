package tlslink

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Identity is the proven identity of a peer.
type Identity struct {
	// Name is the first DNS name of the peer's certificate, or its common name;
	// empty if the peer showed none. It is the peer's word unless Verified or pinned.
	Name string
	// Key is the fingerprint of the peer's key; zero if it showed no certificate.
	Key Fingerprint
	// Verified: a certificate authority that the configuration trusts vouches for Name.
	Verified bool
}

// Fingerprint is the SHA-256 sum of a public key (its SubjectPublicKeyInfo in
// DER): it stays the same when the certificate around the key is renewed.
type Fingerprint [sha256.Size]byte

func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// ParseFingerprint reads what String writes.
func ParseFingerprint(s string) (f Fingerprint, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(f) {
		return f, fmt.Errorf("%q is no fingerprint: want %d hexadecimal digits", s, 2*len(f))
	}
	return Fingerprint(b), nil
}

func fingerprint(c *x509.Certificate) Fingerprint { return sha256.Sum256(c.RawSubjectPublicKeyInfo) }

func identity(s tls.ConnectionState) Identity {
	if len(s.PeerCertificates) == 0 {
		return Identity{}
	}
	return IdentityOf(s.PeerCertificates[0], len(s.VerifiedChains) > 0)
}

// IdentityOf returns the identity in a certificate; verified says whether an authority was asked.
func IdentityOf(leaf *x509.Certificate, verified bool) Identity {
	id := Identity{Name: leaf.Subject.CommonName, Key: fingerprint(leaf), Verified: verified}
	if len(leaf.DNSNames) > 0 {
		id.Name = leaf.DNSNames[0]
	}
	return id
}

// ErrUnknownKey is wrapped by the error of a handshake with a peer that is not among those pinned.
var ErrUnknownKey = errors.New("the peer's key is not among those expected")

// Pin returns a configuration that accepts exactly the peers with these keys, whatever their
// certificates say, on either side; without keys nobody. cfg gives the rest, the own certificate
// above all, and is not changed.
func Pin(cfg *tls.Config, keys ...Fingerprint) *tls.Config {
	cfg = cfg.Clone()
	cfg.InsecureSkipVerify = true // instead of names and authorities, the key itself is compared
	cfg.ClientAuth = tls.RequireAnyClientCert
	before := cfg.VerifyConnection
	cfg.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return fmt.Errorf("%w: it showed none", ErrUnknownKey)
		}
		got := fingerprint(s.PeerCertificates[0])
		for _, k := range keys {
			if bytes.Equal(k[:], got[:]) {
				if before != nil {
					return before(s)
				}
				return nil
			}
		}
		return fmt.Errorf("%w: it is %v", ErrUnknownKey, got)
	}
	return cfg
}

// SelfSigned makes a new key and a certificate for it in this name, valid for ten years:
// an identity for a game client, to be kept in a file and known to others by its fingerprint.
func SelfSigned(name string) (tls.Certificate, Fingerprint, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, Fingerprint{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, Fingerprint{}, err
	}
	start := time.Now().Add(-time.Hour) // clocks differ
	template := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: start, NotAfter: start.AddDate(10, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	if !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) && name != "" {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, Fingerprint{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, Fingerprint{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, fingerprint(leaf), nil
}
