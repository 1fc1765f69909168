package main

import (
	"net"
	"strings"
	"testing"
	"time"
)

// A name at a server of Parsec tells where the host of this player would be; players of other programs tell no port.
func TestTold(t *testing.T) {
	s := parsed(t, "-meet slotserver -slotserver x -listen :7540 -name a:80")
	if got := s.heard(s.told(), "192.0.2.1"); got != (other{"a:80", "192.0.2.1:7540"}) {
		t.Errorf("%q is heard as %+v", s.told(), got)
	}
	for name, want := range map[string]other{
		"Ann":       {"Ann", "192.0.2.1:7540"},
		"Ann:":      {"Ann:", "192.0.2.1:7540"},
		"Ann:0":     {"Ann:0", "192.0.2.1:7540"},
		"Ann:70000": {"Ann:70000", "192.0.2.1:7540"},
		"Ann:12":    {"Ann", "192.0.2.1:12"},
	} {
		if got := s.heard(name, "192.0.2.1"); got != want {
			t.Errorf("%q is heard as %+v, not %+v", name, got, want)
		}
	}
}

// Whoever finds no host among those who are there is told whom it has asked and how.
func TestNobody(t *testing.T) {
	s := parsed(t, "-meet slotserver -slotserver x")
	at := net.JoinHostPort("127.0.0.1", unused(t))
	f := &slots{s: s, joined: true, own: 1}
	for i := range 6 {
		if i != 1 {
			f.others[i] = other{"Ann", at}
		}
	}
	_, err := f.host(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nobody is the host yet") {
		t.Errorf("%v", err)
	}
	f.search.since = time.Now().Add(-time.Hour)
	_, err = f.host(t.Context())
	if err == nil || !strings.Contains(err.Error(), "over TCP") || !strings.Contains(err.Error(), "Ann at "+at) ||
		!strings.Contains(err.Error(), "and 2 more") {
		t.Errorf("%v", err)
	}
	f.own = 0
	f.others[0] = other{}
	if at, err := f.host(t.Context()); at != "" || err != nil || !f.search.since.IsZero() {
		t.Errorf("the first one is told %q, %v", at, err)
	}
}
