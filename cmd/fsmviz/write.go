package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-go/parley/cmd/internal/cli"
	"github.com/parley-go/parley/gen/files"
)

// drawing is one finished picture.
type drawing struct {
	name   string // of the file, without its ending
	ending string
	data   []byte
}

// writer puts pictures where -o says.
type writer struct {
	stdout, stderr io.Writer
	out            string
}

// folder reports whether -o means a folder: by its last letter, or because it is one.
func (w *writer) folder() bool {
	if strings.HasSuffix(w.out, "/") || strings.HasSuffix(w.out, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(w.out)
	return w.out != "" && err == nil && info.IsDir()
}

// noFormat is the error of an -o that is no folder and whose ending says nothing.
func (w *writer) noFormat(what, endings string) error {
	if filepath.Ext(w.out) == "" {
		return usage("-o %s: there is no such folder, and a file has an ending: write %s/ for a folder; a "+
			"file ends in %s, or say its format with --format", w.out, w.out, endings)
	}
	return usage("-o %s: the ending says no format%s; there are %s, or say it with --format", w.out, what, endings)
}

// write writes all pictures or says why it cannot.
func (w *writer) write(list []drawing) error {
	if w.folder() {
		return w.writeFolder(list)
	}
	if w.out == "" {
		return w.writeStdout(list)
	}
	if len(list) > 1 {
		return usage("there are %d pictures: name a folder (-o %s/), or one role with --role", len(list),
			strings.TrimSuffix(w.out, filepath.Ext(w.out)))
	}
	if err := files.Write(w.out, list[0].data); err != nil {
		return usage("%s", cli.Describe(err))
	}
	return nil
}

func (w *writer) writeStdout(list []drawing) error {
	if list[0].ending == ".png" {
		return errPNG
	}
	for _, d := range list {
		if _, err := w.stdout.Write(d.data); err != nil {
			return usage("%s", cli.Describe(err))
		}
	}
	return nil
}

func (w *writer) writeFolder(list []drawing) error {
	var all []files.File
	for _, d := range list {
		all = append(all, files.File{Path: filepath.Join(w.out, d.name+d.ending), Content: d.data})
	}
	if err := files.WriteAll(all); err != nil {
		return usage("%s", cli.Describe(err))
	}
	for _, f := range all {
		fmt.Fprintln(w.stdout, filepath.ToSlash(f.Path))
	}
	return nil
}

// errPNG refuses to write PNG to standard output.
var errPNG = usage("PNG is not text: name a file or folder with -o")

// usage is an error of flags, arguments or files.
func usage(format string, args ...any) error {
	return &cli.Error{Code: cli.ExitUsage, Message: fmt.Sprintf(format, args...)}
}
