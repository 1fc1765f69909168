package dhcp

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/parley-go/parley/examples/interop/internal/daemon"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// inside is set in the process that is a computer in the network of TestDnsmasq; its value is where the server
// keeps its leases.
const inside = "PARLEY_DHCP_INSIDE"

// network has two computers: $0 is the test program on one of them, and on the other is dnsmasq, which leases
// three addresses. It ends with the test program.
const network = `ip link set lo up && ip link add s0 type veth peer name c0 || exit 9
unshare -n sh -c "touch $DIR/ready; until ip link show c0 >/dev/null 2>&1; do sleep 0.02; done
	ip link set lo up; ip link set c0 address 02:00:00:00:00:07
	ip addr add 10.9.8.9/24 dev c0 && ip link set c0 up || exit 9
	` + inside + `=$DIR/leases exec $0 -test.run TestInside -test.v" &
client=$!
until [ -e $DIR/ready ]; do sleep 0.02; done
ip link set c0 netns $client && ip addr add 10.9.8.1/24 dev s0 && ip link set s0 up || exit 9
$SERVER --no-daemon --conf-file=/dev/null --port=0 --interface=s0 --bind-interfaces \
	--dhcp-range=10.9.8.100,10.9.8.102,2m --dhcp-leasefile=$DIR/leases --dhcp-authoritative --no-ping \
	--log-dhcp >$DIR/log 2>&1 &
wait $client`

// TestDnsmasq: a lease is got from dnsmasq, kept and given back, in a network made for the test.
func TestDnsmasq(t *testing.T) {
	server := daemon.Path(t, "dnsmasq")
	for _, program := range []string{"unshare", "ip"} {
		daemon.Path(t, program)
	}
	if err := exec.Command("unshare", "-Urnpf", "--kill-child", "sh", "-c",
		"ip link add s0 type veth peer name c0 && unshare -n true").Run(); err != nil {
		t.Skipf("no network of one's own can be made here: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), daemon.Limit)
	defer stop()
	dir := t.TempDir()
	c := exec.CommandContext(ctx, "unshare", "-Urnpf", "--kill-child", "sh", "-c", network, os.Args[0])
	c.Env = append(os.Environ(), "DIR="+dir, "SERVER="+server)
	c.WaitDelay = time.Second
	if out, err := c.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS: TestInside")) {
		log, _ := os.ReadFile(dir + "/log")
		t.Errorf("%v\n%s\n%s", err, out, log)
	}
}

// TestInside is the client of TestDnsmasq.
func TestInside(t *testing.T) {
	leases := os.Getenv(inside)
	if leases == "" {
		t.Skip("runs as a part of TestDnsmasq")
	}
	held := func() string { // by our card
		b, _ := os.ReadFile(leases)
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 2 && f[1] == "02:00:00:00:00:07" {
				return f[2]
			}
		}
		return ""
	}
	link, err := udp.Open("udp4", ":68", udp.Config{Peers: []string{"10.9.8.1:67"}, MaxFrame: MaxFrame})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(link, net.HardwareAddr{2, 0, 0, 0, 0, 7})
	if err != nil {
		t.Fatal(err)
	}
	var first Lease
	for range 5 { // the server may begin later than we do
		if first, err = c.Acquire(t.Context()); err == nil {
			break
		}
	}
	pool := netip.MustParsePrefix("10.9.8.100/30")
	if err != nil || first.For != 2*time.Minute || !pool.Contains(first.IP) || held() != first.IP.String() {
		t.Fatalf("%v, %v; the server has %q", first, err, held())
	}
	// The server sends answers about an address in use to that address.
	add := exec.Command("ip", "addr", "add", first.IP.String()+"/24", "dev", "c0")
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if again, err := c.Renew(t.Context()); err != nil || again != first {
		t.Errorf("renewed: %v, %v", again, err)
	}
	if err := c.Release(t.Context()); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(daemon.Limit); held() != ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the server has still %q", held())
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
