package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// target is the program: where it listens, and how it is started, if we start it.
type target struct {
	at      []endpoint // by channel
	news    int        // the channel with which links come and go
	start   string
	ready   time.Duration // within which it has to listen
	process *process
	starts  int
	parts   bool // it closes a connection that its peer has closed
	unheard bool // connections have ended of which it may not have heard before the next ones came
}

// endpoint is where a channel of the program is.
type endpoint struct{ network, address string }

func (e endpoint) datagrams() bool { return e.network == "udp" }

// datagrams says by channel whether it is one of datagrams.
func (t *target) datagrams() (list []bool) {
	for _, e := range t.at {
		list = append(list, e.datagrams())
	}
	return list
}

// stream reports whether connections to the program come and go.
func (t *target) stream() bool { return !t.at[t.news].datagrams() }

func (t *target) String() string {
	var list []string
	for _, e := range t.at {
		list = append(list, e.network+":"+e.address)
	}
	return strings.Join(list, " and ")
}

// process is a program that we have started.
type process struct {
	cmd   *exec.Cmd
	said  tail
	ended chan struct{}
	err   error
}

// tail keeps the last lines that a program writes.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const longestTail = 4096

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - longestTail; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

// lines are the last few.
func (t *tail) lines(most int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimRight(string(bytes.ToValidUTF8(t.buf, []byte("?"))), "\n")
	if text == "" {
		return nil
	}
	list := strings.Split(text, "\n")
	return list[max(0, len(list)-most):]
}

// errGone is the error for a program that does not listen.
var errGone = errors.New("nobody listens there")

// run starts the program if we are to start it and it does not run.
func (t *target) run() error {
	if t.start == "" || t.process != nil && !t.process.over() {
		return nil
	}
	p := &process{cmd: exec.Command("/bin/sh", "-c", "exec "+t.start), ended: make(chan struct{})}
	if strings.ContainsAny(t.start, ";&|\n") {
		p.cmd = exec.Command("/bin/sh", "-c", t.start)
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.WaitDelay = time.Second
	own(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("--start: %w", err)
	}
	t.starts++
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.process = p
	return nil
}

// over reports whether the program has ended by itself.
func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stop ends the program and all that it has started.
func (t *target) stop() {
	if p := t.process; p != nil {
		end(p.cmd.Process.Pid)
		<-p.ended
		t.process, t.unheard = nil, false
	}
}

// death says how the program has ended, with what it wrote last; empty if it runs or is not ours.
func (t *target) death() string {
	p := t.process
	if p == nil || !p.over() {
		return ""
	}
	text := "it ended with status 0"
	if p.err != nil {
		text = "it ended with " + p.err.Error()
	}
	if lines := p.said.lines(4); len(lines) > 0 {
		text += "; it wrote last: " + strings.Join(lines, " / ")
	}
	return text
}

// dial connects to the program, in each channel, and waits for one that we have started until it listens: some take one
// connection at a time, and listen anew only after its end.
func (t *target) dial(ctx context.Context, who int, in chan arrival) ([]*connection, error) {
	if err := t.run(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, t.ready)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	var list []*connection
	for {
		c, err := t.at[len(list)].try(ctx, in)
		if err == nil {
			c.who, c.channel = who, len(list)
			c.listen()
			if list = append(list, c); len(list) == len(t.at) {
				return list, nil
			}
			continue
		}
		gone := t.process == nil || t.process.over()
		if !gone {
			select {
			case <-ctx.Done():
				gone, err = true, fmt.Errorf("within %v: %w", t.ready, err)
			case <-t.process.ended:
			case <-again.C:
			}
		}
		if gone {
			for _, c := range list {
				c.close()
			}
			return nil, fmt.Errorf("%w: %w", errGone, err)
		}
	}
}

func (e endpoint) try(ctx context.Context, in chan arrival) (*connection, error) {
	if e.datagrams() {
		if yes, known := listens(e.address); known && !yes {
			return nil, &net.OpError{Op: "dial", Net: "udp", Err: syscall.ECONNREFUSED}
		}
	}
	return connect(ctx, e.network, e.address, in)
}
