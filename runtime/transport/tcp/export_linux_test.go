package tcp

// Engines are all ways to serve that this system has.
var Engines = map[string]func(network, address string, cfg ServeConfig) (*Server, error){"epoll": Serve,
	"pooled": servePooled}
