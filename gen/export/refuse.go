package export

import (
	"fmt"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// Unsupported is the error for a check that an output language cannot express, or only with a model that
// is far too large.
type Unsupported struct {
	Check, Language, What string
}

func (e *Unsupported) Error() string {
	return fmt.Sprintf("the export to %s cannot say what check %s uses: %s", e.Language, e.Check, e.What)
}

// faultWords names the faults of a check, each of them.
func faultWords(c *model.Check) string {
	f := c.Faults
	var list []string
	of := func(what string, most []int, more string) {
		var names []string
		for i, n := range most {
			if n > 0 {
				names = append(names, c.Instances[i].Name)
			}
		}
		if len(names) > 0 {
			list = append(list, what+" of "+diag.And(names)+more)
		}
	}
	torn := " in the course of a step, which may take with them what was sent last"
	if f.Atomic {
		torn = " between steps"
	}
	of("crashes", f.Crash, torn)
	of("restarts", f.Restart, "")
	for _, x := range []struct {
		most int
		what string
	}{
		{f.Break, "links that break"},
		{f.Return, "links that come back"},
		{f.Partition, "partitions"},
		{f.Lose, "messages that are lost"},
		{f.Duplicate, "messages that are copied"},
		{f.Overtake, "messages that overtake others"},
	} {
		if x.most > 0 {
			list = append(list, x.what)
		}
	}
	if len(list) == 0 {
		return "none, which keeps channels from losing and copying messages"
	}
	return diag.And(list)
}

// refusal is the panic that ends an export. Promela recovers from it.
type refusal struct{ what string }

func refuse(format string, args ...any) { panic(refusal{fmt.Sprintf(format, args...)}) }
