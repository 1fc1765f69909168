//go:build !linux

package files

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
func mount(string) error  { return errors.ErrUnsupported }
func unmount(string)      {}
