/* Interposes libc's functions that read and write files and sockets, for --check sync.
 *
 * A system call into a page that cuda/host_access.h protects would fail with EFAULT. These functions unprotect the pages,
 * call libc, and record which bytes were used. Only libcuda.so.1 has them; `heddle run --check sync` preloads it, so
 * that the program and its libraries find them before libc's. They must have no other effect, because every program that
 * loads libcuda.so.1 before libc uses them. */
#define _GNU_SOURCE /* RTLD_NEXT and others */
#include "cuda/host_access.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Programs that this one starts are not checked. */
__attribute__((constructor)) static void leave_environment(void)
{
    static const char own[] = "libcuda.so.1";
    const char *all = getenv("LD_PRELOAD");
    if (!all || strncmp(all, own, sizeof own - 1) != 0) return;
    all += sizeof own - 1;
    if (*all == ':') setenv("LD_PRELOAD", all + 1, 1);
    else if (!*all) unsetenv("LD_PRELOAD");
}

/* What libc exports for programs that are compiled with _FORTIFY_SOURCE; no header declares all of them. */
// NOLINTBEGIN(clang-diagnostic-reserved-identifier): libc's names
ssize_t __read_chk(int fd, void *buf, size_t nbytes, size_t buflen);
ssize_t __pread_chk(int fd, void *buf, size_t nbytes, off_t offset, size_t buflen);
ssize_t __pread64_chk(int fd, void *buf, size_t nbytes, off64_t offset, size_t buflen);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t buflen, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t buflen, int flags, struct sockaddr *addr,
                       socklen_t *addr_len);
size_t __fread_chk(void *ptr, size_t buflen, size_t size, size_t n, FILE *stream);
size_t __fread_unlocked_chk(void *ptr, size_t buflen, size_t size, size_t n, FILE *stream);
// NOLINTEND(clang-diagnostic-reserved-identifier)

/* The functions of libc. A program may write in a constructor that runs before this one, so it is also done at need. */
static void *next(void **cached, const char *name)
{
    if (!*cached) *cached = dlsym(RTLD_NEXT, name);
    if (!*cached) abort(); /* there is no libc */
    return *cached;
}

/* The body of a function. `unit`: how many bytes a result of 1 stands for; a result below 0 is a failure. Pages may be
 * protected again while the call waits, because another thread is in the driver: then it is made again. */
#define AROUND(type, name, arguments, parts, count, unit, fills)                                   \
    static void *cached;                                                                           \
    __typeof__(name) *const libc = (__typeof__(libc))next(&cached, #name);                         \
    const struct iovec *const list = parts;                                                        \
    const size_t length = (size_t)(count);                                                         \
    type result;                                                                                   \
    for (;;) {                                                                                     \
        const bool lent = host_access_call_begin(list, length, fills);                             \
        result = libc arguments;                                                                   \
        if (!lent) break;                                                                          \
        const int number = errno;                                                                  \
        const bool failed = (ssize_t)result < 0;                                                   \
        host_access_call_end(list, length, failed ? 0 : (size_t)result *(unit), fills,             \
                             __builtin_return_address(0));                                         \
        errno = number;                                                                            \
        if (!failed || number != EFAULT) break;                                                    \
    }                                                                                              \
    return result

/* Parameters have libc's names. */
#define ONE(p, n) (&(const struct iovec){(void *)(uintptr_t)(p), n})

ssize_t read(int fd, void *buf, size_t nbytes)
{
    AROUND(ssize_t, read, (fd, buf, nbytes), ONE(buf, nbytes), 1, 1, true);
}

ssize_t __read_chk(int fd, void *buf, size_t nbytes, size_t buflen)
{
    AROUND(ssize_t, __read_chk, (fd, buf, nbytes, buflen), ONE(buf, nbytes), 1, 1, true);
}

ssize_t write(int fd, const void *buf, size_t n)
{
    AROUND(ssize_t, write, (fd, buf, n), ONE(buf, n), 1, 1, false);
}

ssize_t pread(int fd, void *buf, size_t nbytes, off_t offset)
{
    AROUND(ssize_t, pread, (fd, buf, nbytes, offset), ONE(buf, nbytes), 1, 1, true);
}

ssize_t __pread_chk(int fd, void *buf, size_t nbytes, off_t offset, size_t buflen)
{
    AROUND(ssize_t, __pread_chk, (fd, buf, nbytes, offset, buflen), ONE(buf, nbytes), 1, 1, true);
}

ssize_t pread64(int fd, void *buf, size_t nbytes, off64_t offset)
{
    AROUND(ssize_t, pread64, (fd, buf, nbytes, offset), ONE(buf, nbytes), 1, 1, true);
}

ssize_t __pread64_chk(int fd, void *buf, size_t nbytes, off64_t offset, size_t buflen)
{
    AROUND(ssize_t, __pread64_chk, (fd, buf, nbytes, offset, buflen), ONE(buf, nbytes), 1, 1, true);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    AROUND(ssize_t, pwrite, (fd, buf, n, offset), ONE(buf, n), 1, 1, false);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t offset)
{
    AROUND(ssize_t, pwrite64, (fd, buf, n, offset), ONE(buf, n), 1, 1, false);
}

ssize_t readv(int fd, const struct iovec *iovec, int count)
{
    AROUND(ssize_t, readv, (fd, iovec, count), iovec, iovec && count > 0 ? count : 0, 1, true);
}

ssize_t writev(int fd, const struct iovec *iovec, int count)
{
    AROUND(ssize_t, writev, (fd, iovec, count), iovec, iovec && count > 0 ? count : 0, 1, false);
}

ssize_t preadv(int fd, const struct iovec *iovec, int count, off_t offset)
{
    AROUND(ssize_t, preadv, (fd, iovec, count, offset), iovec, iovec && count > 0 ? count : 0, 1,
           true);
}

ssize_t preadv64(int fd, const struct iovec *iovec, int count, off64_t offset)
{
    AROUND(ssize_t, preadv64, (fd, iovec, count, offset), iovec, iovec && count > 0 ? count : 0, 1,
           true);
}

ssize_t pwritev(int fd, const struct iovec *iovec, int count, off_t offset)
{
    AROUND(ssize_t, pwritev, (fd, iovec, count, offset), iovec, iovec && count > 0 ? count : 0, 1,
           false);
}

ssize_t pwritev64(int fd, const struct iovec *iovec, int count, off64_t offset)
{
    AROUND(ssize_t, pwritev64, (fd, iovec, count, offset), iovec, iovec && count > 0 ? count : 0, 1,
           false);
}

ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    AROUND(ssize_t, recv, (fd, buf, n, flags), ONE(buf, n), 1, 1, true);
}

ssize_t __recv_chk(int fd, void *buf, size_t n, size_t buflen, int flags)
{
    AROUND(ssize_t, __recv_chk, (fd, buf, n, buflen, flags), ONE(buf, n), 1, 1, true);
}

ssize_t recvfrom(int fd, void *restrict buf, size_t n, int flags, struct sockaddr *restrict addr,
                 socklen_t *restrict addr_len)
{
    AROUND(ssize_t, recvfrom, (fd, buf, n, flags, addr, addr_len), ONE(buf, n), 1, 1, true);
}

ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t buflen, int flags, struct sockaddr *addr,
                       socklen_t *addr_len)
{
    AROUND(ssize_t, __recvfrom_chk, (fd, buf, n, buflen, flags, addr, addr_len), ONE(buf, n), 1, 1,
           true);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    AROUND(ssize_t, recvmsg, (fd, message, flags), message ? message->msg_iov : NULL,
           message ? message->msg_iovlen : 0, 1, true);
}

ssize_t send(int fd, const void *buf, size_t n, int flags)
{
    AROUND(ssize_t, send, (fd, buf, n, flags), ONE(buf, n), 1, 1, false);
}

ssize_t sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *addr,
               socklen_t addr_len)
{
    AROUND(ssize_t, sendto, (fd, buf, n, flags, addr, addr_len), ONE(buf, n), 1, 1, false);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    AROUND(ssize_t, sendmsg, (fd, message, flags), message ? message->msg_iov : NULL,
           message ? message->msg_iovlen : 0, 1, false);
}

#undef fread_unlocked /* macros where libc's headers are optimised */
#undef fwrite_unlocked

/* A size that does not fit is libc's to refuse. */
static size_t bytes(size_t size, size_t n)
{
    size_t all;
    return __builtin_mul_overflow(size, n, &all) ? 0 : all;
}

size_t fread(void *restrict ptr, size_t size, size_t n, FILE *restrict stream)
{
    AROUND(size_t, fread, (ptr, size, n, stream), ONE(ptr, bytes(size, n)), 1, size, true);
}

size_t fread_unlocked(void *restrict ptr, size_t size, size_t n, FILE *restrict stream)
{
    AROUND(size_t, fread_unlocked, (ptr, size, n, stream), ONE(ptr, bytes(size, n)), 1, size, true);
}

size_t __fread_chk(void *ptr, size_t buflen, size_t size, size_t n, FILE *stream)
{
    AROUND(size_t, __fread_chk, (ptr, buflen, size, n, stream), ONE(ptr, bytes(size, n)), 1, size,
           true);
}

size_t __fread_unlocked_chk(void *ptr, size_t buflen, size_t size, size_t n, FILE *stream)
{
    AROUND(size_t, __fread_unlocked_chk, (ptr, buflen, size, n, stream), ONE(ptr, bytes(size, n)),
           1, size, true);
}

size_t fwrite(const void *restrict ptr, size_t size, size_t n, FILE *restrict s)
{
    AROUND(size_t, fwrite, (ptr, size, n, s), ONE(ptr, bytes(size, n)), 1, size, false);
}

size_t fwrite_unlocked(const void *restrict ptr, size_t size, size_t n, FILE *restrict stream)
{
    AROUND(size_t, fwrite_unlocked, (ptr, size, n, stream), ONE(ptr, bytes(size, n)), 1, size,
           false);
}
