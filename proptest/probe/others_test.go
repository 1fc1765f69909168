package probe

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program is where a program of somebody else is. The test is skipped if it is not installed.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/usr/bin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed here", name)
	return ""
}

// others probes a program that somebody else wrote. What it does is right.
func others(t *testing.T, spec, address string, o Options, transitions int) {
	t.Helper()
	o.Seed, o.Budget, o.Patience, o.Linger, o.Sessions = 1, 5*time.Minute, time.Minute, 20*time.Millisecond, 60
	r, err := Run(t.Context(), load(t, spec), address, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("%s: %s\n%v\n%s", f.Kind, f.Why, f.Script, f.Run.Chart().Text())
	}
	if r.Transitions[0] < transitions || r.Hostile == 0 {
		t.Errorf("%v transitions, not seen: %v; %d hostile sessions", r.Transitions, r.Uncovered, r.Hostile)
	}
	t.Logf("%d sessions, %v transitions, %v pairs, %.1fs", r.Sessions, r.Transitions, r.Pairs, r.Seconds)
}

// mosquitto is a command that starts a broker, and its address. Like that of the specification it waits for what a
// client owes before it sends it the next message that has to be acknowledged.
func mosquitto(t *testing.T) (start, address string) {
	path, address := program(t, "mosquitto"), port(t)
	_, number, _ := net.SplitHostPort(address)
	config := filepath.Join(t.TempDir(), "mosquitto.conf")
	text := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous true\npersistence false\nuser root\n"+
		"max_inflight_messages 1\n", number)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path + " -c " + config, address
}

func TestMosquitto(t *testing.T) {
	t.Parallel()
	start, address := mosquitto(t)
	others(t, "specs/library/mqtt/spec.yaml", address, Options{Start: start,
		// Who says that it pings each second must do so, however slow this computer is.
		Values: map[string][]string{"topic": {"a/b"}, "client": {"probe"}, "keepAlive": {"60"}}}, 8)
}

// TestMosquittoDiffers: where mosquitto and our specification differ. MQTT 3.1.1 is on its side: a topic has at least
// one character (4.7.3).
func TestMosquittoDiffers(t *testing.T) {
	t.Parallel()
	start, address := mosquitto(t)
	const script = `check out
c connect{client: "a", clean: true, keepAlive: 60}
c publish{topic: "", message: "", qos: atLeastOnce, retain: false}
----
b: left the specification: closed
`
	p := load(t, "specs/library/mqtt/spec.yaml")
	list, err := Repeat(t.Context(), p, address, []byte(script), Options{Start: start, Patience: time.Minute})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	for _, x := range list {
		if x.Wants != x.Shows {
			t.Errorf("line %d: %s, want %s", x.Line, x.Shows, x.Wants)
		}
	}
}

func TestRedis(t *testing.T) {
	t.Parallel()
	path, address := program(t, "redis-server"), port(t)
	_, number, _ := net.SplitHostPort(address)
	others(t, "specs/library/resp/spec.yaml", address, Options{
		Start: path + " --port " + number + " --save '' --dir " + t.TempDir()}, 1)
}

func TestTftpd(t *testing.T) {
	t.Parallel()
	path, address, folder := program(t, "in.tftpd"), port(t), t.TempDir()
	if os.Getuid() != 0 {
		t.Skip("in.tftpd wants to be root, since it changes its root folder")
	}
	if err := os.WriteFile(filepath.Join(folder, "hello.txt"), make([]byte, 700), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir := folder; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	others(t, "specs/library/tftp/spec.yaml", "udp:"+address, Options{Target: "s",
		Start:  fmt.Sprintf("%s -L -u root -a %s -s %s", path, address, folder),
		Values: map[string][]string{"name": {"hello.txt"}, "mode": {"octet"}, "options": {"[]"}}}, 6)
}
