package compile

import (
	"testing"
	"testing/fstest"
)

func TestScratch(t *testing.T) {
	fsys := fstest.MapFS{"a.yaml": {Data: []byte("protocol: x\n")}}
	_, l := Load("a.yaml", Options{FS: fsys})
	t.Log(l.Error())
}
