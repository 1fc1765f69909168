package formats

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/formats/answer"
	"github.com/parley-go/parley/proptest/race"
)

// batch is some drawn formats, and what was asked of their codecs.
type batch struct {
	texts    []string
	formats  []*model.Protocol
	requests []answer.Request
	want     []answer.Answer
}

// ask adds a question to which the reference codec has the answer.
func (b *batch) ask(q answer.Request, want answer.Answer) {
	q.Codec = len(b.formats) - 1
	b.requests, b.want = append(b.requests, q), append(b.want, want)
}

// drawn draws so many formats, from a number on, with messages and frames of each.
func drawn(from, count, messages, changes int) *batch {
	b := &batch{}
	for i := range count {
		rapid.Custom(func(t *rapid.T) bool {
			text, p := meant(t)
			b.texts, b.formats = append(b.texts, text), append(b.formats, p)
			members := golang.MessageMembers(p.Messages)
			frames(t, p, messages, changes, func(strs *interp.Strings, m *model.Message, slots []int64) {
				q := answer.Request{Write: true, Kind: m.Index}
				if len(m.Fields) > 0 {
					q.Member = members[m.Index]
					for _, f := range m.Fields {
						q.Leaves = leaves(strs, f.Type, slots[f.Offset:], q.Leaves)
					}
				}
				var want answer.Answer
				want.Frame, want.Err = interp.AppendFrame(p, strs, []byte{'x'}, m, slots)
				b.ask(q, want)
			}, func(frame []byte) {
				b.ask(answer.Request{Frame: frame, Count: len(b.requests)%31 == 0}, read(p, frame))
			})
			return true
		}).Example(from + i)
	}
	return b
}

// read is what the reference codec says of a frame.
func read(p *model.Protocol, frame []byte) (a answer.Answer) {
	strs := &interp.Strings{}
	if a.Size, a.SizeErr = interp.FrameSize(p, frame); a.SizeErr.Problem != 0 {
		a.Size = 0
	}
	m, slots, err := interp.DecodeFrame(p, strs, frame)
	if a.Err = err; err.Problem == 0 {
		a.Text = string(interp.AppendMessage(nil, strs, m, slots))
		a.Frame, a.Err = interp.AppendFrame(p, strs, []byte{'x'}, m, slots)
	}
	return a
}

// leaves appends the numbers of a value, in the order in which the Go type has them.
func leaves(strs *interp.Strings, t *model.Type, src []int64, dst []uint64) []uint64 {
	switch t.Kind {
	case model.KindBytes:
		b := make([]byte, t.Cap)
		n := copy(b, strs.Get(src[0]))
		dst = append(dst, uint64(n))
		for _, c := range b {
			dst = append(dst, uint64(c))
		}
		return dst
	case model.KindOptional:
		return leaves(strs, t.Elem, src[1:], append(dst, uint64(src[0])))
	case model.KindRecord:
		for _, f := range t.Fields {
			dst = leaves(strs, f.Type, src[f.Offset:], dst)
		}
		return dst
	case model.KindArray, model.KindList:
		n := t.Cap
		if t.Kind == model.KindList {
			dst, src = append(dst, uint64(src[0])), src[1:]
		} else {
			n = int(t.Index.Count())
		}
		for i := range n {
			dst = leaves(strs, t.Elem, src[i*t.Elem.Slots():], dst)
		}
		return dst
	}
	return append(dst, uint64(src[0]))
}

// folder is where the packages would lie in the module. Nothing is there: the Go tool is told so.
const folder = "drawn_formats"

// build generates the packages of the formats and builds a program that answers for their codecs.
func (b *batch) build(t *testing.T) (program string) {
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	put := func(pkg, name string, content []byte) {
		file := filepath.Join(dir, pkg+"_"+name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, folder, pkg, name)] = file
	}
	imports, made := "", ""
	for i, p := range b.formats {
		pkg := fmt.Sprint("f", i)
		files, err := golang.Generate(p, golang.Options{Package: pkg})
		if err != nil {
			t.Fatalf("%s\n%v", b.texts[i], err)
		}
		for name, content := range files {
			put(pkg, name, content)
		}
		imports += fmt.Sprintf("\t%q\n", "github.com/parley-go/parley/"+folder+"/"+pkg)
		made += fmt.Sprintf("\t\tanswer.Of(%[1]s.FrameSize, %[1]s.DecodeMessage, %[1]s.AppendMessage),\n", pkg)
	}
	put("", "main.go", []byte("package main\n\nimport (\n\t\"os\"\n\n"+
		"\t\"github.com/parley-go/parley/proptest/formats/answer\"\n"+imports+")\n\nfunc main() {\n"+
		"\tif err := answer.Serve(os.Stdin, os.Stdout,\n"+made+"\t); err != nil {\n\t\tpanic(err)\n\t}\n}\n"))
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	put("", "overlay.json", list)
	program = filepath.Join(dir, "program")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "_overlay.json"), "-o", program, "./"+folder)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		for i, text := range b.texts {
			if bytes.Contains(out, fmt.Appendf(nil, "%s/f%d\n", folder, i)) {
				t.Logf("f%d:\n%s", i, text)
			}
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestGo holds generated codecs to the reference codec on drawn formats: what a frame is, which error it has and
// where, what is written for a message, and that nothing is allocated.
func TestGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the Go tool is not there: generated codecs are not built")
	}
	from, count := seed(t, 1), race.Draws(6, 20)
	if n, err := strconv.Atoi(os.Getenv("PARLEY_DRAWS")); err == nil {
		count = n
	}
	for done := 0; done < count; done += 20 {
		drawn(from+done, min(20, count-done), 20, 20).held(t)
	}
}

// seed returns the number of the first format that is drawn: the same each time, unless tests have hours, or
// PARLEY_FROM says it.
func seed(t *testing.T, usual int) int {
	from := usual
	if n, err := strconv.Atoi(os.Getenv("PARLEY_FROM")); err == nil {
		from = n
	} else if race.Nightly() || os.Getenv("PARLEY_DRAWS") != "" {
		from = int(time.Now().Unix())
	}
	t.Logf("from format %d on; PARLEY_FROM draws the same again", from)
	return from
}

// held asks the generated codecs and compares their answers.
func (b *batch) held(t *testing.T) {
	var in bytes.Buffer
	w := gob.NewEncoder(&in)
	for i := range b.requests {
		if err := w.Encode(&b.requests[i]); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(b.build(t))
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	r := gob.NewDecoder(bytes.NewReader(out))
	accepted, bad := 0, map[int]int{}
	for i, q := range b.requests {
		var got answer.Answer
		if err := r.Decode(&got); err != nil {
			t.Fatal(err)
		}
		want := b.want[i]
		if want.Text != "" {
			accepted++
		}
		if same(got, want) {
			continue
		}
		if bad[q.Codec]++; bad[q.Codec] == 1 {
			t.Errorf("%s\n% x (message %d of %s) is\n%+v\nin Go, and in the reference\n%+v", b.texts[q.Codec], q.Frame,
				q.Kind, q.Member, got, want)
		}
	}
	t.Logf("%d formats, %d questions, %d frames accepted", len(b.formats), len(b.requests), accepted)
	if accepted*20 < len(b.requests) {
		t.Errorf("of %d questions only %d were frames that are accepted", len(b.requests), accepted)
	}
}

// same compares answers. What is appended behind where a message has no frame is of no interest.
func same(got, want answer.Answer) bool {
	return got.Size == want.Size && got.SizeErr == want.SizeErr && got.Err == want.Err && got.Text == want.Text &&
		bytes.Equal(got.Frame, want.Frame) && got.Allocated == 0 && got.Panic == ""
}
