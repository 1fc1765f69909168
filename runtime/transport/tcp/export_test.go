package tcp

// servePooled is Serve by the portable way.
func servePooled(network, address string, cfg ServeConfig) (*Server, error) {
	ln, err := Listen(network, address, Config{})
	if err != nil {
		return nil, err
	}
	return &Server{newPooled(ln.ln, cfg.withDefaults())}, nil
}
