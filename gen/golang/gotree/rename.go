package gotree

import "reflect"

// Rename gives objects other names in a tree, in place: a function with its own name, a statement, or a pointer to an
// expression. Members keep theirs, and so does what a comment says.
func Rename(tree any, names map[string]string) {
	if len(names) > 0 {
		rename(reflect.ValueOf(tree), names)
	}
}

func rename(v reflect.Value, names map[string]string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			rename(v.Elem(), names)
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if v.Elem().Kind() != reflect.Struct {
			rename(v.Elem(), names)
			return
		}
		// An expression is a value, which is copied to be changed.
		other := reflect.New(v.Elem().Type()).Elem()
		other.Set(v.Elem())
		rename(other, names)
		v.Set(other)
	case reflect.Slice:
		for i := range v.Len() {
			rename(v.Index(i), names)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			rename(v.Field(i), names)
		}
		if t := v.Type(); t == nameType || t == reflect.TypeFor[Func]() {
			if f := v.FieldByName("Name"); names[f.String()] != "" {
				f.SetString(names[f.String()])
			}
		}
	}
}
