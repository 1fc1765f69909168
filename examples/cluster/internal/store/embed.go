package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Embedded is a NATS server in this process.
type Embedded struct{ s *server.Server }

// EmbedConfig says how NATS is embedded.
type EmbedConfig struct {
	Address string // to listen on, 127.0.0.1 with any port if it is empty
	Dir     string // for what JetStream keeps
	// Name, Route and Peers are for several servers that are one cluster: the server's own name, the address that
	// it listens on for the others, and theirs.
	Name  string
	Route string
	Peers []string
	// MaxStore is how many bytes JetStream may have on disk, 0 for what the disk has.
	MaxStore int64
}

// failures are what a NATS server says when it cannot go on. It would wait for somebody to end the process.
type failures struct{ first chan string }

func (f failures) Fatalf(format string, v ...any) {
	select {
	case f.first <- fmt.Sprintf(format, v...):
	default:
	}
}

func (failures) Noticef(string, ...any) {}
func (failures) Warnf(string, ...any)   {}
func (failures) Errorf(string, ...any)  {}
func (failures) Debugf(string, ...any)  {}
func (failures) Tracef(string, ...any)  {}

// Embed starts a NATS server with JetStream.
func Embed(cfg EmbedConfig) (*Embedded, error) {
	o := &server.Options{ServerName: cfg.Name, JetStream: true, StoreDir: cfg.Dir, NoSigs: true, NoLog: true,
		JetStreamMaxStore: cfg.MaxStore,
		Port:              server.RANDOM_PORT, Host: "127.0.0.1", MaxPayload: 64 << 10,
		WriteDeadline: 2 * time.Second} // a consumer that takes nothing for so long is disconnected
	if cfg.Address != "" {
		host, port, err := split(cfg.Address)
		if err != nil {
			return nil, err
		}
		o.Host, o.Port = host, port
		if port == 0 {
			o.Port = server.RANDOM_PORT
		}
	}
	if cfg.Route != "" {
		host, port, err := split(cfg.Route)
		if err != nil {
			return nil, err
		}
		o.Cluster = server.ClusterOpts{Name: "parley", Host: host, Port: port}
		for _, p := range cfg.Peers {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: p})
		}
	}
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("nats: the folder for what it keeps: %w", err)
	}
	if cfg.Address != "" && o.Port > 0 { // NATS itself would go on without it, and tell nobody
		l, err := net.Listen("tcp", cfg.Address)
		if err != nil {
			return nil, fmt.Errorf("nats: %w", err)
		}
		l.Close()
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	wrong := failures{make(chan string, 1)}
	s.SetLoggerV2(wrong, false, false, false)
	s.Start()
	ready := make(chan bool, 1)
	go func() { ready <- s.ReadyForConnections(10 * time.Second) }()
	select {
	case ok := <-ready:
		if ok {
			return &Embedded{s}, nil
		}
		err = fmt.Errorf("nats does not come up at %s", cfg.Address)
	case why := <-wrong.first:
		err = fmt.Errorf("nats: %s", why)
	}
	s.Shutdown()
	return nil, err
}

func split(address string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil {
		return "", 0, fmt.Errorf("nats: the address %q: %w", address, err)
	}
	return host, port, nil
}

// Routes returns n addresses of this computer at which nobody listens, for the routes of a cluster.
func Routes(n int) (routes []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are known, so that they are different
		routes = append(routes, l.Addr().String())
	}
	return routes, nil
}

// EmbedCluster starts n NATS servers in this process that are one cluster, each with a folder in dir.
func EmbedCluster(n int, dir string) (servers []*Embedded, err error) {
	routes, err := Routes(n)
	if err != nil {
		return nil, err
	}
	errs := make([]error, n)
	servers = make([]*Embedded, n)
	var starting sync.WaitGroup
	for i := range n {
		starting.Go(func() {
			name := fmt.Sprintf("nats-%d", i+1)
			servers[i], errs[i] = Embed(EmbedConfig{Dir: filepath.Join(dir, name), Name: name, Route: routes[i],
				Peers: routes})
		})
	}
	starting.Wait()
	if err := errors.Join(errs...); err != nil {
		for _, s := range servers {
			if s != nil {
				s.Shutdown()
			}
		}
		return nil, err
	}
	return servers, nil
}

// URL is where programs connect.
func (e *Embedded) URL() string { return e.s.ClientURL() }

// Traffic returns how many messages and bytes came to the server from programs and went to them, since it began.
func (e *Embedded) Traffic() (messages, bytes int64) {
	v, err := e.s.Varz(nil)
	if err != nil {
		return 0, 0
	}
	return v.InMsgs + v.OutMsgs, v.InBytes + v.OutBytes
}

// Shutdown ends the server and waits for it.
func (e *Embedded) Shutdown() { e.s.Shutdown(); e.s.WaitForShutdown() }
