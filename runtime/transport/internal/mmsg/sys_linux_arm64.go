package mmsg

// Numbers of system calls.
const sysRecvmmsg, sysSendmmsg = 243, 269
