//go:build !windows

package explain

import "syscall"

// What the system says, by what it means here.
var (
	inUse           = []error{syscall.EADDRINUSE}
	notAvailable    = []error{syscall.EADDRNOTAVAIL}
	refused         = []error{syscall.ECONNREFUSED}
	netUnreachable  = []error{syscall.ENETUNREACH, syscall.ENETDOWN}
	hostUnreachable = []error{syscall.EHOSTUNREACH, syscall.EHOSTDOWN}
	reset           = []error{syscall.ECONNRESET, syscall.ECONNABORTED}
	invalid         = []error{syscall.EINVAL}
	forbidden       = []error{syscall.EACCES, syscall.EPERM}
	noFamily        = []error{syscall.EAFNOSUPPORT}
	noDescriptors   = []error{syscall.EMFILE, syscall.ENFILE}
)
