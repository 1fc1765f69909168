// Package watch judges specifications again whenever their files change, and tells what is
// different. It knows of files only that they change; where that is learned, and
// how long to wait for more, is given to it. Start from [Session].
package watch

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"
)

// Session watches some specifications.
type Session struct {
	Files []string
	Out   io.Writer
	// Judge gives a verdict; its context ends when the files change meanwhile.
	Judge func(ctx context.Context, file string) Verdict
	// Events names files that may have changed, as absolute paths. The session ends when it is closed.
	Events <-chan string
	// Watch asks for events about a folder; called again for the same one it does nothing.
	Watch func(dir string) error
	// Settle returns a channel that is ready when no further event is to be waited for.
	Settle func() <-chan time.Time
	// Now is the time shown with each verdict.
	Now func() time.Time

	last    map[string]*Verdict // newest verdict
	checked map[string]*Verdict // newest with checks
	parts   map[string][]string // absolute names of each specification's files
	ended   bool                // there will be no more events
}

// Run judges everything once, and then what changes, until ctx is done or the events end.
func (s *Session) Run(ctx context.Context) error {
	s.last, s.checked, s.parts = map[string]*Verdict{}, map[string]*Verdict{}, map[string][]string{}
	for _, f := range s.Files {
		if err := s.depends(f, []string{f}); err != nil {
			return err
		}
	}
	due := slices.Clone(s.Files)
	for {
		var settled <-chan time.Time
		if len(due) > 0 {
			again, err := s.judge(ctx, due)
			if err != nil || ctx.Err() != nil {
				return err
			}
			if due = again; len(due) > 0 {
				settled = s.Settle()
			}
		}
		more, open := s.wait(ctx, due, settled)
		if due = more; !open || ctx.Err() != nil {
			return nil
		}
	}
}

// wait collects specifications with changed files until the events settle. open is false when there
// will be no more.
func (s *Session) wait(ctx context.Context, due []string, settled <-chan time.Time) (all []string, open bool) {
	for {
		if s.ended && settled == nil {
			return nil, false
		}
		select {
		case <-ctx.Done():
			return nil, false
		case name, ok := <-s.Events:
			if !ok {
				s.ended, s.Events = true, nil
				continue
			}
			if hit := s.affected(name); len(hit) > 0 {
				due = union(due, hit)
				settled = s.Settle() // wait anew: editors write in several steps
			}
		case <-settled:
			return due, true
		}
	}
}

// judge gives verdicts one after the other. A change of a file that is being judged, or still to be,
// ends this; what is left is returned.
func (s *Session) judge(ctx context.Context, due []string) (left []string, err error) {
	for i, f := range due {
		one, stop := context.WithCancel(ctx)
		done := make(chan Verdict, 1)
		go func() { done <- s.Judge(one, f) }()
		for running := true; running; {
			select {
			case v := <-done:
				running = false
				if ctx.Err() == nil {
					err = s.tell(f, v)
				}
			case name, ok := <-s.Events:
				if !ok {
					// Nothing more will change; the verdicts are still worth having.
					s.ended, s.Events = true, nil
					continue
				}
				hit := s.affected(name)
				left = union(left, hit)
				if slices.Contains(hit, f) {
					stop()
					<-done
					return union(left, due[i:]), nil
				}
			case <-ctx.Done():
				stop()
				<-done
				return nil, nil
			}
		}
		stop()
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

// tell prints what is new and remembers it.
func (s *Session) tell(f string, v Verdict) error {
	old := s.last[f]
	if old != nil && s.checked[f] != nil {
		merged := *old
		merged.Checks = s.checked[f].Checks
		old = &merged
	}
	_, err := fmt.Fprintf(s.Out, "%s %s\n%s", s.Now().Format("15:04:05"), f, Diff(old, v))
	s.last[f] = &v
	if v.Checked {
		s.checked[f] = &v
	}
	if err != nil {
		return err
	}
	return s.depends(f, v.Files)
}

// depends notes of which files a specification consists, and watches their folders: editors
// replace files, and a folder sees that.
func (s *Session) depends(f string, files []string) error {
	names := make([]string, 0, len(files))
	for _, part := range files {
		abs, err := filepath.Abs(filepath.FromSlash(part))
		if err != nil {
			return err
		}
		names = append(names, abs)
		if err := s.Watch(filepath.Dir(abs)); err != nil && part == f {
			return err
		}
	}
	s.parts[f] = names
	return nil
}

// affected lists the specifications that a file is part of.
func (s *Session) affected(name string) []string {
	var out []string
	for _, f := range s.Files {
		if slices.Contains(s.parts[f], name) {
			out = append(out, f)
		}
	}
	return out
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
