package mutate

import (
	"os"
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

func TestMain(m *testing.M) { os.Exit(race.Main(m)) }
