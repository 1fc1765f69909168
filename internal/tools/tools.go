//go:build tools

// Package tools keeps the modules that only some packages use in go.mod.
package tools

import (
	_ "github.com/dave/jennifer/jen"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/gopacket/gopacket"
	_ "github.com/gopacket/gopacket/pcapgo"
	_ "github.com/looplab/fsm"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "go.yaml.in/yaml/v4"
	_ "pgregory.net/rapid"
)
