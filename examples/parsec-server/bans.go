package main

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// bans are addresses that are not let in. They stand in a file, one address or prefix on a line, and # begins a
// comment. Whoever asks to join is looked up in the file as it is then; while it cannot be read the last one counts.
type bans struct {
	file string

	mu      sync.Mutex
	list    []netip.Prefix
	changed time.Time // when the file was written that list is from
	size    int64
}

// maxBans is the most bytes of the file.
const maxBans = 1 << 20

// read returns the list as the file has it now.
func (b *bans) read() ([]netip.Prefix, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := os.Stat(b.file)
	if err != nil {
		return b.list, err
	}
	if info.ModTime().Equal(b.changed) && info.Size() == b.size {
		return b.list, nil
	}
	// A pipe that nobody writes to would keep the server waiting, so it is not waited for.
	f, err := os.OpenFile(b.file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return b.list, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return b.list, err
	}
	switch {
	case !info.Mode().IsRegular():
		return b.list, fmt.Errorf("%s is no plain file", b.file)
	case info.Size() > maxBans:
		return b.list, fmt.Errorf("%s has %d bytes, and %d are read at most", b.file, info.Size(), maxBans)
	}
	var list []netip.Prefix
	lines := bufio.NewScanner(io.LimitReader(f, maxBans))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := prefix(text)
		if err != nil {
			return b.list, fmt.Errorf("%s:%d: %q is no address such as 192.168.1.1, and no prefix such as "+
				"192.168.1.0/24", b.file, n, text)
		}
		list = append(list, p)
	}
	if err := lines.Err(); err != nil {
		return b.list, fmt.Errorf("%s: %w", b.file, err)
	}
	b.list, b.changed, b.size = list, info.ModTime(), info.Size()
	return list, nil
}

func prefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		return p.Masked(), err
	}
	a, err := netip.ParseAddr(text)
	return netip.PrefixFrom(a, a.BitLen()), err
}

// has reports whether an address is banned. The error says why the file was not read anew.
func (b *bans) has(a netip.Addr) (bool, error) {
	if b.file == "" {
		return false, nil
	}
	list, err := b.read()
	for _, p := range list {
		if p.Contains(a) {
			return true, err
		}
	}
	return false, err
}
