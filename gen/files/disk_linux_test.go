package files

import "syscall"

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// mount makes a folder a disk of 128 KiB.
func mount(dir string) error { return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k") }

func unmount(dir string) { syscall.Unmount(dir, syscall.MNT_DETACH) }
