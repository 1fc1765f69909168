package wire

import "testing"

func TestMisplaced(t *testing.T) {
	fields := []string{"a", "b", "c"}
	if got := Flags(true, false, true); got != 0b101 {
		t.Errorf("%b", got)
	}
	if got, want := Misplaced("M", fields, 0b011, 0b001, 7), (Error{Message: "M", Field: "b", Offset: 7,
		Problem: Union, Value: 1}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := Misplaced("M", fields, 0b010, 0b110, 7), (Error{Message: "M", Field: "c", Offset: 7,
		Problem: Union, Limit: 1}); got != want {
		t.Errorf("%+v", got)
	}
}
