package store

import (
	"syscall"
	"unsafe"
)

// allocWords gives n zero words outside the Go heap, so that a large table is
// returned to the system the moment it is freed, and on large pages, which
// saves an address translation on most of the look-ups.
func allocWords(n uint64) ([]uint64, error) {
	if n < 1<<16 {
		return make([]uint64, n), nil
	}
	at, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, uintptr(n*8), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE, ^uintptr(0), 0)
	if errno != 0 {
		return nil, errno
	}
	_ = madviseHuge(unsafe.Slice((*byte)(mapped(at)), n*8))
	return unsafe.Slice((*uint64)(mapped(at)), n), nil
}

// freeWords gives back what allocWords gave.
func freeWords(w []uint64) {
	if len(w) < 1<<16 {
		return
	}
	_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, uintptr(unsafe.Pointer(&w[0])), uintptr(len(w)*8), 0)
}

// GrowWords extends a result of allocWords to n words, the new ones zero. The old slice must not be
// used again. It moves pages and does not copy them.
func GrowWords(w []uint64, n uint64) ([]uint64, error) {
	if len(w) < 1<<16 {
		out, err := allocWords(n)
		copy(out, w)
		return out, err
	}
	const mayMove = 1
	at, _, errno := syscall.Syscall6(syscall.SYS_MREMAP, uintptr(unsafe.Pointer(&w[0])), uintptr(len(w)*8),
		uintptr(n*8), mayMove, 0, 0)
	if errno != 0 {
		return nil, errno
	}
	out := unsafe.Slice((*uint64)(mapped(at)), n)
	_ = madviseHuge(unsafe.Slice((*byte)(mapped(at)), n*8))
	return out, nil
}

// mapped is the pointer for an address the system gave; the memory is not of
// the Go heap and does not move.
func mapped(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

func madviseHuge(b []byte) error {
	const hugePages = 14 // MADV_HUGEPAGE; refused by some kernels, which is no harm
	return syscall.Madvise(b, hugePages)
}
