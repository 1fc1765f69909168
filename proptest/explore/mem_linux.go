package explore

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
	b, err := syscall.Mmap(-1, 0, int(n*8), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	const hugePages = 14 // MADV_HUGEPAGE; refused by some kernels, which is no harm
	_ = syscall.Madvise(b, hugePages)
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), n), nil
}

// freeWords gives back what allocWords gave.
func freeWords(w []uint64) {
	if len(w) < 1<<16 {
		return
	}
	_ = syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), len(w)*8))
}
