// Command races writes docs/races: a page for each race that a literal specification shows, with
// what happens to the players, the shortest run as a picture, and the lines that repair it. What
// people read stands beside the specifications, in RACES.md; runs and numbers come from the
// checker. It must know no protocol. Start from [read] and [write].
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parley-go/parley/gen/files"
	"github.com/parley-go/parley/proptest/check"
)

// pages is the folder that the command writes.
const pages = "docs/races"

func main() {
	if err := generate(context.Background(), "."); err != nil {
		fmt.Fprintln(os.Stderr, "races:", err)
		os.Exit(1)
	}
}

// generate runs the checks of every race and writes the pages below root. A page that would differ
// in nothing but seconds stays as it is.
func generate(ctx context.Context, root string) error {
	list, err := read(root)
	if err != nil {
		return err
	}
	made := &maker{ctx: ctx, root: root, known: map[search]*check.Report{}}
	found, err := made.all(list)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, pages)
	old, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, still := found[filepath.Base(name)]; !still {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, text := range found {
		file := filepath.Join(dir, name)
		if have, err := os.ReadFile(file); err == nil && timeless(string(have)) == timeless(text) {
			continue
		}
		if err := files.Write(file, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}
