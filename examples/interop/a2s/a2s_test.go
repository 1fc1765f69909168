package a2s

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/machines/a2s"
	"github.com/parley-go/parley/runtime/transport/impair"
	"github.com/parley-go/parley/runtime/transport/udp"
	"github.com/parley-go/parley/runtime/wire"
)

func name(s string) a2s.Name {
	n, ok := a2s.NewName(s)
	if !ok {
		panic(s)
	}
	return n
}

// state is that of a server with so many rules.
func state(rules int) (s State) {
	version, _ := a2s.NewVersion("1.0.0.22")
	s.Info = a2s.InfoMessage{Info: a2s.Info{Protocol: 17, Name: name("A server of ours"), Map: name("de_dust"),
		Folder: name("cstrike"), Game: name("Counter-Strike"), App: 240, Players: 2, Most: 16, Bots: 1, Kind: 'd',
		System: 'l', Secured: true, Version: version}}
	s.Info.Info.Port = a2s.Optional[a2s.Port]{Present: true, Value: 27015}
	s.Info.Info.Keywords.Present = true
	s.Info.Info.Keywords.Value, _ = a2s.NewKeywords("alltalk,bots")
	s.Info.Television.Present = true
	s.Info.Television.Value = a2s.Television{Port: 27020, Name: name("tv")}
	s.Info.Info.Long = a2s.Optional[a2s.Steam]{Present: true, Value: 240}
	for i, p := range []string{"Ann", "Bob"} {
		s.Players.Players.Items[i] = a2s.Player{Name: name(p), Score: a2s.Score(7 - 10*i), Seconds: wire.MakeF32(90.5)}
		s.Players.Players.Len++
	}
	for i := range rules {
		value, _ := a2s.NewValue(fmt.Sprint(i*i, strings.Repeat("x", 60)))
		s.Rules.Rules.Items[i] = a2s.Rule{Name: name(fmt.Sprintf("mp_rule_%d", i)), Value: value}
		s.Rules.Rules.Len++
	}
	return s
}

// serve starts a server until the test ends, and returns its address.
func serve(t *testing.T, s State) string {
	t.Helper()
	link, err := udp.Open("udp4", "127.0.0.1:0", udp.Config{MaxFrame: MaxFrame})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, link, s) }()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return link.LocalAddr().String()
}

// TestQuakestat has quakestat ask our server, which sends its rules in one packet and in pieces.
func TestQuakestat(t *testing.T) {
	path := daemon.Path(t, "quakestat")
	for _, rules := range []int{2, 40} {
		address := serve(t, state(rules))
		out, err := daemon.Run(t, path, "-nocfg", "-raw", "|", "-retry", "600", "-interval", "0.1", "-timeout", "60",
			"-R", "-P", "-a2s", address)
		want := []string{"A2S|" + address + "|A server of ours|de_dust|16|2|", "Ann|7|", "Bob|-3|",
			"|bots=1|dedicated=1|"}
		for i := range rules {
			want = append(want, fmt.Sprintf("mp_rule_%d=%d%s", i, i*i, strings.Repeat("x", 60)))
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%d rules: quakestat does not say %q, %v:\n%s", rules, w, err, out)
				break
			}
		}
	}
}

// TestLoss: our client and our server understand each other, also in pieces, while packets are lost and copied.
// The client may give up; then it is asked again.
func TestLoss(t *testing.T) {
	s := state(40)
	want := [...]a2s.Message{a2s.QueryInfo: {Kind: a2s.MessageInfo, Info: s.Info},
		a2s.QueryPlayers: {Kind: a2s.MessagePlayers, Players: s.Players},
		a2s.QueryRules:   {Kind: a2s.MessageRules, Rules: s.Rules}}
	address, lost, answers := serve(t, s), 0, [len(want)]int{}
	for round := 0; lost == 0 || slices.Contains(answers[:], 0); round++ {
		if round == 100 {
			t.Fatalf("%d packets were lost, and the answers are %v", lost, answers)
		}
		link, err := udp.Open("udp4", "", udp.Config{Peers: []string{address}, MaxFrame: MaxFrame})
		if err != nil {
			t.Fatal(err)
		}
		lossy, err := impair.New(link,
			impair.Config{Seed: uint64(round), Faults: impair.Faults{Loss: 0.1, Duplicate: 0.1}})
		if err != nil {
			t.Fatal(err)
		}
		query := a2s.Query(round % len(want))
		got, err := Ask(t.Context(), lossy, query)
		lost += int(lossy.Stats().Lost)
		switch {
		case err == nil && *got == want[query]:
			answers[query]++
		case err == nil || err.Error() != "no answer":
			t.Fatalf("%s: %v, %v", query, got, err)
		}
	}
}
