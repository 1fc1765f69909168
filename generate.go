// Package parley is the root of the module; it only says how machines/ is made. Start
// with docs/START.md.
package parley

//go:generate go run ./cmd/fsmgen generate specs/*/spec.yaml specs/library/a2s/spec.yaml specs/library/http/spec.yaml specs/library/lease/spec.yaml specs/library/lookup/spec.yaml specs/library/lookuptcp/spec.yaml specs/library/minecraft/spec.yaml specs/library/mqtt/spec.yaml specs/library/ntp/spec.yaml specs/library/resp/spec.yaml specs/library/socks5/spec.yaml specs/library/stun/spec.yaml specs/library/tftp/spec.yaml
//go:generate go run ./internal/races
