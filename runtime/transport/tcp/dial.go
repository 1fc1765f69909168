package tcp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/explain"
)

// Dial connects to "host:port". All addresses of the host are tried in turn, each for cfg.Timeout,
// cfg.Attempts times with cfg.Pause between. The network is "tcp", "tcp4" or "tcp6". The error says
// what is wrong and what to do, and has those of the last round in its chain.
func Dial(ctx context.Context, network, address string, cfg Config) (*Link, error) {
	cfg = cfg.withDefaults()
	for attempt := 1; ; attempt++ {
		l, err := dialOnce(ctx, network, address, cfg)
		if err == nil {
			return l, nil
		}
		failed := func(err error) error { return explain.Network(explain.Connect, "TCP", address, err) }
		if ctx.Err() != nil {
			return nil, failed(errors.Join(err, ctx.Err()))
		}
		if attempt == cfg.Attempts || permanent(err) {
			return nil, failed(err)
		}
		if cfg.OnRetry != nil {
			cfg.OnRetry(attempt, failed(err))
		}
		pause := time.NewTimer(cfg.Pause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, failed(errors.Join(err, ctx.Err()))
		}
	}
}

// permanent reports whether trying again cannot help.
func permanent(err error) bool {
	var a *net.AddrError
	var n net.UnknownNetworkError
	var d *net.DNSError
	return errors.As(err, &a) || errors.As(err, &n) || errors.As(err, &d) && d.IsNotFound
}

func dialOnce(ctx context.Context, network, address string, cfg Config) (*Link, error) {
	addrs, err := resolve(ctx, network, address)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, a := range addrs {
		d := net.Dialer{Timeout: cfg.Timeout, KeepAlive: -1}
		conn, err := d.DialContext(ctx, network, a.String())
		if err != nil {
			errs = append(errs, err)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		return newLink(conn.(*net.TCPConn), cfg, nil), nil
	}
	return nil, errors.Join(errs...)
}

// maxAddresses bounds what one round of Dial tries.
const maxAddresses = 16

func resolve(ctx context.Context, network, address string) ([]netip.AddrPort, error) {
	family := map[string]string{"tcp": "ip", "tcp4": "ip4", "tcp6": "ip6"}[network]
	if family == "" {
		return nil, net.UnknownNetworkError(network)
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil || port == 0 {
		return nil, &net.AddrError{Err: "no port to connect to", Addr: address}
	}
	if host == "" {
		host = "localhost"
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, family, host)
	if err != nil {
		return nil, err
	}
	if len(ips) > maxAddresses {
		ips = ips[:maxAddresses]
	}
	out := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		out[i] = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return out, nil
}
