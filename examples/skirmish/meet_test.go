package main

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
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
	f.search.begin()
	for i := range 6 {
		if i != 1 {
			f.others[i] = other{fmt.Sprint("P", i), at}
		}
	}
	f.search.note(f.others[:])
	_, err := f.host(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nobody is the host yet") {
		t.Errorf("%v", err)
	}
	f.search.vain = time.Now().Add(-time.Hour)
	_, err = f.host(t.Context())
	if err == nil || !strings.Contains(err.Error(), "over TCP") ||
		!strings.Contains(err.Error(), "P0 at "+at) || !strings.Contains(err.Error(), "and 2 more") {
		t.Errorf("%v", err)
	}
}

// Where nobody is the host, it is the first of those who are not new. So who takes the slot of a host that has gone
// does not become it before those who have the match.
func TestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ann, bob, cy search
		is := func(name string, f *search, own int, others []other, want bool) {
			t.Helper()
			if got := f.first(own, others); got != want {
				t.Errorf("%s is the first: %v", name, got)
			}
		}
		a, b, c := other{"Ann", "a"}, other{"Bob", "b"}, other{"Cy", "c"}
		ann.begin()
		is("Ann, alone,", &ann, 0, []other{{}, {}}, true)
		bob.begin()
		bob.note([]other{a, {}})
		ann.note([]other{{}, b})
		time.Sleep(time.Minute)
		is("Bob", &bob, 1, []other{a, {}}, false)
		bob.note([]other{{}, {}}) // Ann has gone, or blinks
		bob.note([]other{a, {}})
		is("Bob", &bob, 1, []other{a, {}}, false)
		bob.note([]other{{}, {}})
		cy.begin()
		cy.note([]other{{}, b})
		bob.note([]other{c, {}})
		is("Cy, who is new,", &cy, 0, []other{{}, b}, false)
		is("Bob, whom Ann has left,", &bob, 1, []other{c, {}}, true)
		time.Sleep(time.Minute)
		is("Cy", &cy, 0, []other{{}, b}, true)
		is("Bob", &bob, 1, []other{c, {}}, false)
		bob.note([]other{{}, {}})
		time.Sleep(time.Minute)
		bob.note([]other{{}, {}})
		bob.note([]other{c, {}})
		is("Bob, to whom Cy comes back,", &bob, 1, []other{c, {}}, true)
		var dan, eve search // who play with a host for a moment, and it goes
		dan.begin()
		dan.found = true
		time.Sleep(2 * time.Second)
		eve.begin()
		eve.found = true
		d, e := other{"Dan", "d"}, other{"Eve", "e"}
		dan.note([]other{e, {}})
		eve.note([]other{{}, d})
		is("Dan", &dan, 1, []other{e, {}}, true)
		is("Eve, who came later,", &eve, 0, []other{{}, d}, false)
		if len(bob.met) != 1 {
			t.Errorf("%d visits are kept", len(bob.met))
		}
	})
}
