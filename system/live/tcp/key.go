package tcp

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// LeastKey is how many bytes a key has at least.
const LeastKey = 32

// serverName is what every certificate of a cluster is for; which node it is says its subject.
const serverName = "node.shardproof"

// The certificates' validity spans any clock that a node may have: the key, not time, says who
// belongs to the cluster.
var (
	validFrom = time.Unix(0, 0)
	validTo   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// certify makes a node's side of TLS from the key. The key is the seed of the cluster's certificate
// authority, so every node can issue itself a certificate that all others trust, and nothing has to
// be distributed but the key.
func certify(key []byte, node string) (*tls.Config, error) {
	if len(key) < LeastKey {
		return nil, fmt.Errorf("the key has %d bytes; it needs %d at least", len(key), LeastKey)
	}
	seed, err := hkdf.Key(sha256.New, key, nil, "shardproof certificate authority 1",
		ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	authority := ed25519.NewKeyFromSeed(seed)
	root, err := issueRoot(authority)
	if err != nil {
		return nil, err
	}
	own, err := issue(root, authority, node)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(root)
	return &tls.Config{
		Certificates: []tls.Certificate{own},
		RootCAs:      trusted,
		ClientCAs:    trusted,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ServerName:   serverName,
		MinVersion:   tls.VersionTLS13,
		// A session ticket would let a node in whose key has changed since.
		SessionTicketsDisabled: true,
	}, nil
}

func issueRoot(key ed25519.PrivateKey) (*x509.Certificate, error) {
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "shardproof cluster"},
		NotBefore: validFrom, NotAfter: validTo, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(signed)
}

// issue makes a certificate for a key that lives as long as the process.
func issue(root *x509.Certificate, authority ed25519.PrivateKey, node string) (
	own tls.Certificate, err error,
) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return own, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return own, err
	}
	leaf := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: node}, DNSNames: []string{serverName},
		NotBefore: validFrom, NotAfter: validTo, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, root, public, authority)
	if err != nil {
		return own, err
	}
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: private}, nil
}

// vouchedFor checks that a connection's certificate is that of the node that greets.
func vouchedFor(c *tls.Conn, node string) error {
	certificates := c.ConnectionState().PeerCertificates
	if len(certificates) == 0 {
		return errors.New("the peer has no certificate")
	}
	if name := certificates[0].Subject.CommonName; name != node {
		return fmt.Errorf("the certificate of %q greets as %q", name, node)
	}
	return nil
}
