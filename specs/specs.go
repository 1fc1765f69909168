// Package specs holds the protocol specifications that come with Parley: one
// folder for each, with spec.yaml, which is sound and what the machines are
// generated from, and beside it the literal readings of the document and of the
// game's code, whose counterexamples are kept as findings. It must know nothing
// of the compiler. Start from [FS].
package specs

import "embed"

// FS holds every specification under its path in this folder, for example
// confirm/spec.yaml.
//
//go:embed */*.yaml
var FS embed.FS

// RealMatch is a packet capture of a whole match between two real games, the
// test of the netplay specification; see netplay/SOURCES.md.
//
//go:embed netplay/testdata/uqm-match.pcap
var RealMatch []byte
