package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/golang"
)

func init() { commands = append(commands, versionCommand) }

// versionInfo is the output of `fsmgen version`.
type versionInfo struct {
	Version string `json:"version"` // as generated files have it
	// the version of the module it was built from, unless that is a checkout
	Module   string `json:"module,omitempty"`
	Revision string `json:"revision,omitempty"` // of the checkout it was built from
	Modified bool   `json:"modified,omitempty"` // the checkout had changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Contract is the version of runtime/fsm that generated code asks for.
	Contract int `json:"contract"`
}

func versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Say which fsmgen this is",
		Args:  cli.Args(false),
		RunE: func(c *cobra.Command, _ []string) error {
			v := readVersion(debug.ReadBuildInfo())
			if asJSON {
				enc := json.NewEncoder(c.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(v)
			}
			return v.print(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func readVersion(info *debug.BuildInfo, ok bool) versionInfo {
	v := versionInfo{Version: golang.Version, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Contract: golang.Contract}
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Module = m
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v versionInfo) print(w io.Writer) error {
	revision := ""
	if v.Module != "" {
		revision = " of module " + v.Module
	} else if v.Revision != "" {
		revision = " of revision " + v.Revision[:min(len(v.Revision), 12)]
		if v.Modified {
			revision += " with changes"
		}
	}
	_, err := fmt.Fprintf(w, "fsmgen %s%s, %s, %s, generates for contract %d\n", v.Version, revision, v.Go,
		v.Platform, v.Contract)
	return err
}
