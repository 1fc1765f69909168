package explain

import "syscall"

// What the system says, by what it means here: the numbers of Winsock, which package syscall mostly
// does not name.
var (
	inUse           = []error{syscall.Errno(10048)}
	notAvailable    = []error{syscall.Errno(10049)}
	refused         = []error{syscall.Errno(10061)}
	netUnreachable  = []error{syscall.Errno(10051), syscall.Errno(10050)}
	hostUnreachable = []error{syscall.Errno(10065), syscall.Errno(10064)}
	reset           = []error{syscall.Errno(10054), syscall.Errno(10053)}
	invalid         = []error{syscall.Errno(10022)}
	forbidden       = []error{syscall.Errno(10013)}
	noFamily        = []error{syscall.Errno(10047)}
	noDescriptors   = []error{syscall.Errno(10024)}
)
