package explore

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func TestBigTmp(t *testing.T) {
	if os.Getenv("PARLEY_BIG") == "" {
		t.Skip()
	}
	for _, x := range os.Getenv("PARLEY_BIG") {
		n, _ := strconv.Atoi(string(x))
		c := cpu()
		r := mustRun(t, confirmUpdate(3, 3, true, 1), Options{Workers: n})
		fmt.Printf("%d workers: %s n=%d steps=%d depth=%d %.2fs cpu %.2f table %.1f B/conf peak %d MB\n", n, r.Verdict, r.Configurations, r.Steps, r.Depth, r.Seconds, cpu()-c, float64(r.TableBytes)/float64(r.Configurations), r.PeakBytes>>20)
	}
}
