package minecraft

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-go/parley/machines/minecraft"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// TestOurs: our client and our server understand each other. Those of another program are in gomc.
func TestOurs(t *testing.T) {
	link, err := tcp.Serve("tcp4", "127.0.0.1:0", tcp.ServeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, link, func(r minecraft.ServerAskedReport) string {
			return fmt.Sprint(int32(r.Version), " ", r.Address, " ", r.Port, strings.Repeat(".", 30000))
		})
	}()
	want := "-1 example.test 25565" + strings.Repeat(".", 30000)
	for range 3 {
		s, err := Ask(t.Context(), link.LocalAddr().String(), "example.test", 25565, -1)
		if err != nil || s.JSON != want || s.Delay <= 0 {
			t.Errorf("%.40q, %v, %v", s.JSON, s.Delay, err)
		}
	}
	stop()
	<-ended
}
