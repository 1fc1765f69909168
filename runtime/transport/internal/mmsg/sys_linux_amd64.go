package mmsg

// Numbers of system calls; package syscall has only one of them.
const sysRecvmmsg, sysSendmmsg = 299, 307
