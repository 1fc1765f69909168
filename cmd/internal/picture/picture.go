// Package picture turns machines into files: it chooses the format, runs
// Graphviz where it is needed and installed, and keeps it from running for
// ever. It knows nothing of specifications. Start from [Render].
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/gen/graph"
	"github.com/parley-go/parley/gen/model"
)

// Formats of pictures, by the name of the flag and the file's ending.
const (
	DOT     = "dot"
	SVG     = "svg"
	PNG     = "png"
	Mermaid = "mermaid"
)

// Formats in the order in which help texts name them.
var Formats = []string{DOT, SVG, PNG, Mermaid}

// Ending returns the file ending of a format, with its dot.
func Ending(format string) string {
	if format == Mermaid {
		return ".mmd"
	}
	return "." + format
}

// FormatOf returns the format that a file's name asks for, "" if none.
func FormatOf(file string) string {
	end := filepath.Ext(file)
	i := slices.IndexFunc(Formats, func(f string) bool { return Ending(f) == end })
	if i < 0 {
		return ""
	}
	return Formats[i]
}

// ErrNoDot says that Graphviz is not installed. SVG does without it, PNG does not.
var ErrNoDot = errors.New("PNG needs the program dot, which is not installed (Debian: apt-get install " +
	"graphviz); SVG does without it")

// dotTime is how long Graphviz may take for one picture. A machine that takes
// longer has a picture nobody could read.
const dotTime = 30 * time.Second

// Render draws m. SVG is laid out by Graphviz if it is installed, else by
// ourselves; PNG fails with [ErrNoDot] without it.
func Render(ctx context.Context, m *model.Machine, format string, o graph.Options) ([]byte, error) {
	switch format {
	case DOT:
		return []byte(graph.DOT(m, o)), nil
	case Mermaid:
		return []byte(graph.Mermaid(m, o)), nil
	case SVG, PNG:
		out, err := runDot(ctx, graph.DOT(m, o), format)
		if format == SVG && errors.Is(err, ErrNoDot) {
			return []byte(graph.SVG(m, o)), nil
		}
		return out, err
	}
	return nil, fmt.Errorf("no format is called %q; there are %s", format, strings.Join(Formats, ", "))
}

// runDot gives a graph to Graphviz.
func runDot(ctx context.Context, source, format string) ([]byte, error) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		return nil, ErrNoDot
	}
	limited, cancel := context.WithTimeout(ctx, dotTime)
	defer cancel()
	args := []string{"-T" + format}
	if format == PNG {
		args = append(args, "-Gdpi=110")
	}
	cmd := exec.CommandContext(limited, dot, args...)
	cmd.Stdin = strings.NewReader(source)
	cmd.WaitDelay = time.Second
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("dot was stopped: %w", ctx.Err())
	case limited.Err() != nil:
		return nil, fmt.Errorf("dot was stopped after %v; --collapse gives it less to draw", dotTime)
	case err != nil:
		return nil, fmt.Errorf("dot: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	if format == SVG {
		return joinWords(out.Bytes()), nil
	}
	return out.Bytes(), nil
}
