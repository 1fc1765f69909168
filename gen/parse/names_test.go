package parse

import "testing"

// TestFolderNames: the go command has its own use for some folders, so no protocol can have their
// names, and no package of generated code either.
func TestFolderNames(t *testing.T) {
	for _, name := range []string{"internal", "vendor", "testdata", "documentation", "main", "func", "string"} {
		if ProtocolName(name) == "" || PackageName(name) == "" {
			t.Errorf("a package can be called %s", name)
		}
	}
	for _, name := range []string{"ready", "cmd", "fsm", "wire", "test", "windows"} {
		if c := ProtocolName(name) + PackageName(name); c != "" {
			t.Errorf("%s %s", name, c)
		}
	}
}
