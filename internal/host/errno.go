package host

import (
	"fmt"
	"syscall"
)

// errnoNames has the errors that device nodes, proc files and network file systems give; the symbolic name is
// what people search for.
var errnoNames = map[syscall.Errno]string{
	syscall.EPERM: "EPERM", syscall.ENOENT: "ENOENT", syscall.EIO: "EIO", syscall.ENXIO: "ENXIO", syscall.EBADF: "EBADF",
	syscall.EAGAIN: "EAGAIN", syscall.ENOMEM: "ENOMEM", syscall.EACCES: "EACCES", syscall.EBUSY: "EBUSY", syscall.EEXIST: "EEXIST",
	syscall.ENODEV: "ENODEV", syscall.ENOTDIR: "ENOTDIR", syscall.EISDIR: "EISDIR", syscall.EINVAL: "EINVAL", syscall.EMFILE: "EMFILE",
	syscall.ENOSPC: "ENOSPC", syscall.EROFS: "EROFS", syscall.ESTALE: "ESTALE", syscall.ETIMEDOUT: "ETIMEDOUT", syscall.EOPNOTSUPP: "EOPNOTSUPP",
	syscall.ENOTCONN: "ENOTCONN", syscall.ESHUTDOWN: "ESHUTDOWN", syscall.ECONNABORTED: "ECONNABORTED", syscall.EHOSTDOWN: "EHOSTDOWN",
	syscall.ENOSYS: "ENOSYS", syscall.ELOOP: "ELOOP", syscall.EINTR: "EINTR", syscall.EREMOTEIO: "EREMOTEIO", syscall.ETXTBSY: "ETXTBSY",
}

func errnoName(e syscall.Errno) string {
	if n, ok := errnoNames[e]; ok {
		return n
	}
	return fmt.Sprintf("errno %d", int(e))
}
