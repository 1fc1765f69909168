package parse

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/parley-go/parley/gen/ast"
)

var update = flag.Bool("update", false, "rewrite the shipped schema")

const shipped = "../../docs/parley.schema.json"

func TestSchemaShipped(t *testing.T) {
	now := Schema()
	if !bytes.Equal(now, Schema()) {
		t.Fatal("the schema differs from one call to the next")
	}
	if *update {
		if err := os.WriteFile(shipped, now, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(shipped)
	if err != nil || !bytes.Equal(old, now) {
		t.Errorf("docs/parley.schema.json is not what fsmgen schema prints; run go test ./gen/parse -run "+
			"TestSchemaShipped -update (%v)", err)
	}
}

// TestKeysExplained: every key of the language says what it means.
func TestKeysExplained(t *testing.T) {
	seen := map[*shape]bool{}
	var visit func(s *shape)
	visit = func(s *shape) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for _, k := range s.keys {
			if s.doc(k.name) == "" {
				t.Errorf("%s: the key %s has no description", s.what, k.name)
			}
			visit(k.s)
		}
		visit(s.open)
		visit(s.list)
	}
	visit(&specShape)
	if len(seen) < 40 {
		t.Errorf("only %d shapes", len(seen))
	}
}

func TestSchemaAccepts(t *testing.T) {
	v := newValidator(t)
	files, _ := filepath.Glob("../../specs/*/*.yaml")
	if len(files) < 15 {
		t.Fatalf("only %d specifications", len(files))
	}
	files = append(files, "../compile/testdata/kitchen/spec.yaml", "../../cmd/fsmgen/template/spec.yaml")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, found := File(f, text); found.HasErrors() {
			continue
		}
		if err := v.yaml(t, text); err != "" {
			t.Errorf("%s: %s", f, err)
		}
	}
}

// TestSchemaRefuses: what the parser refuses because of the tables the schema refuses too.
func TestSchemaRefuses(t *testing.T) {
	v := newValidator(t)
	const role = "roles: {peer: {initial: idle, states: {idle: {%s}}}}"
	state := func(s string) string { return "protocol: demo\n" + fmt.Sprintf(role, s) }
	for _, text := range []string{
		"messages: {}",
		"protocol: Demo",
		"protocol: demo\nmessage: {}",
		"protocol: demo\ntick: soon",
		"protocol: demo\nchannel: {order: lifo}",
		"protocol: demo\nchannel: {lossy: 1}",
		"protocol: demo\ntypes: {2nd: 0..3}",
		"protocol: demo\ntypes: {u8: 0..3}",
		"protocol: demo\ntypes: {none: 0..3}", "protocol: type", "protocol: len",
		"protocol: demo\nmessages: {A: {feilds: {n: bool}}}",
		"protocol: demo\nmessages: [A]",
		"protocol: demo\nchecks: {c: {claims: {x: {alwyas: true}}}}",
		"protocol: demo\nchecks: {c: {claims: {x: {fair: quite}}}}",
		"protocol: demo\nchecks: {c: {environment: {go: true}}}",
		state("final: maybe"), state("GO: igonre"), state("GO: {sned: X}"),
		state("GO: {each: {a: b, c: d}}"),
		state("GO: [{goto: idle}, stop]"), state("entry: {send: X}"), state("a.b.c: ignore"),
		state("in: ignore"),
	} {
		_, found := File("x.yaml", []byte(text))
		if !found.HasErrors() && text != "messages: {}" {
			t.Errorf("the parser accepts %q", text)
		}
		if v.yaml(t, []byte(text)) == "" {
			t.Errorf("the schema accepts %q", text)
		}
	}
	if err := v.yaml(t, []byte(state("GO: {send: X, goto: idle}, ignore: [A], x.y: ignore"))); err != "" {
		t.Errorf("the schema refuses what is right: %s", err)
	}
}

// TestNamePatterns: the patterns of the schema accept the names that the parser accepts.
func TestNamePatterns(t *testing.T) {
	forms := []names{plainNames, typeNames, dashedNames, eventKeys, ruleKeys, freeKeys}
	part := rapid.StringMatching(`[A-Za-z0-9_. -]{0,5}|none|in|u8|text|type|len|main|[A-Za-z]{60,66}`)
	rapid.Check(t, func(rt *rapid.T) {
		name := part.Draw(rt, "a") + part.Draw(rt, "b")
		for i, f := range forms {
			accepts := regexp.MustCompile(f.pattern).MatchString(name) && !f.but[name]
			if dotted := strings.Contains(name, "."); dotted && f.complain(name) != "" && accepts {
				continue // words of the language behind a dot are beyond the pattern
			}
			if accepts != (f.complain(name) == "") {
				rt.Errorf("form %d: %q: the schema accepts: %v, the parser says %q", i, name,
					accepts, f.complain(name))
			}
		}
		n := &ast.Node{Text: name}
		for _, f := range []*scalar{nameScalar, protocolName} {
			if ok := regexp.MustCompile(f.pattern).
				MatchString(name) && !reserved[name] && !f.but[name]; ok != (f.complain(n) == "") {
				rt.Errorf("%q matches %s: %v, the parser says %q", name, f.pattern, ok, f.complain(n))
			}
		}
	})
}

// validator understands the keywords that our schema uses, and refuses all others.
type validator struct{ root object }

func newValidator(t *testing.T) *validator {
	v := &validator{}
	if err := json.Unmarshal(Schema(), &v.root); err != nil {
		t.Fatal(err)
	}
	return v
}

// yaml validates a text and returns what is wrong with it, or "".
func (v *validator) yaml(t *testing.T, text []byte) string {
	var x any
	if err := yaml.Load(text, &x); err != nil {
		t.Fatal(err)
	}
	return v.check(v.root, x, "")
}

func (v *validator) check(s object, x any, at string) string {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/definitions/")
		return v.check(v.root["definitions"].(object)[name].(object), x, at)
	}
	for key, arg := range s {
		if err := v.keyword(s, key, arg, x); err != "" {
			return at + err
		}
	}
	switch x := x.(type) {
	case object:
		props, _ := s["properties"].(object)
		for k, val := range x {
			sub, ok := props[k].(object)
			if !ok {
				if sub, ok = s["additionalProperties"].(object); !ok && s["additionalProperties"] != false {
					continue
				}
			}
			if !ok {
				return at + ": no key " + k
			}
			if err := v.check(sub, val, at+"/"+k); err != "" {
				return err
			}
		}
	case []any:
		if items, ok := s["items"].(object); ok {
			for i, val := range x {
				if err := v.check(items, val, fmt.Sprintf("%s/%d", at, i)); err != "" {
					return err
				}
			}
		}
	}
	return ""
}

func (v *validator) keyword(s object, key string, arg, x any) string {
	m, isMap := x.(object)
	text, isText := x.(string)
	bad := false
	switch key {
	case "$schema", "$id", "title", "description", "definitions", "properties", "additionalProperties", "items":
	case "type":
		types, _ := arg.([]any)
		if one, ok := arg.(string); ok {
			types = []any{one}
		}
		bad = !slices.Contains(types, any(kindOf(x)))
	case "required":
		for _, k := range arg.([]any) {
			_, has := m[k.(string)]
			bad = bad || isMap && !has
		}
	case "enum":
		bad = !slices.Contains(arg.([]any), x)
	case "pattern":
		bad = isText && !regexp.MustCompile(arg.(string)).MatchString(text)
	case "not":
		bad = v.check(arg.(object), x, "") == ""
	case "anyOf":
		bad = !slices.ContainsFunc(arg.([]any), func(a any) bool {
			return v.check(a.(object), x, "") == ""
		})
	case "minProperties":
		bad = isMap && len(m) < int(arg.(float64))
	case "maxProperties":
		bad = isMap && len(m) > int(arg.(float64))
	case "propertyNames":
		for k := range m {
			bad = bad || v.check(arg.(object), k, "") != ""
		}
	default:
		return ": the keyword " + key + " is not understood by this test"
	}
	if bad {
		return fmt.Sprintf(": %.60v does not satisfy %s %.60v", x, key, arg)
	}
	return ""
}

func kindOf(x any) string {
	switch x.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case object:
		return "object"
	}
	return "number"
}
