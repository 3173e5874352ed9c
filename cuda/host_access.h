/* cuda/host_access.h: with the check `sync`, finds accesses of the host to memory that it shares with the device, while
 * the host has not waited for an operation that uses the same bytes.
 *
 *     p = host_pages_new(touched);            // after an operation: the pages of shared memory that it used
 *     host_access_guard(p, stamp, ...);       // when the host's thread leaves the driver: protect them
 *     host_access_release(say);               // when it enters the driver: unprotect all pages
 *
 * In native order an operation executes when it is submitted, so such a program has the right results. On a GPU the operation
 * may still be running. Between calls of the driver the pages are protected (mprotect): pages that the operation wrote against
 * all accesses, pages that it read against writes. A SIGSEGV handler records the first access to a page, unprotects the page
 * and lets the program continue; the finding is reported at the next call. The access is a finding only if the operation
 * used the same byte.
 *
 * The host's kernel raises no signal for accesses by system calls, which fail with EFAULT. cuda/interposed/system_calls.c
 * interposes libc's functions that read and write files and sockets, unprotects their pages and records the bytes they use.
 *
 * Limits. Not found are: accesses to more than 4096 pages; later accesses to a page between two calls; accesses while another
 * thread is in the driver; accesses to memory that an operation accesses strongly (the host may poll a flag there, which
 * orders other accesses); and accesses to bytes of a registered range that share a page with other memory. Other system calls
 * (ioctl, io_uring, aio, process_vm_readv), system calls without libc, and those inside of libc's other functions fail with
 * EFAULT.
 *
 * A SIGSEGV handler of the program stays installed: it is called for all other faults. */
#ifndef HEDDLE_CUDA_HOST_ACCESS_H
#define HEDDLE_CUDA_HOST_ACCESS_H

#include "cuda/touched.h"

#include <stddef.h>
#include <sys/uio.h>

struct host_pages; /* the pages of shared memory that one operation used */

/* NULL: the operation used no shared memory, or accessed some strongly. */
struct host_pages *host_pages_new(const struct touched *t);
void host_pages_free(struct host_pages *p); /* NULL is allowed */

/* Protects the pages until host_access_release(). `of`: becomes struct host_access.of. */
void host_access_guard(const struct host_pages *p, const void *of);

struct host_access {
    const void *of;      /* the argument of host_access_guard(): the operation */
    uint64_t address;    /* device address */
    uint64_t size;       /* bytes; 1: the first byte that the host accessed in the page */
    bool writes;         /* the host writes; false: the host reads, or that is unknown */
    void *const *frames; /* return addresses of the host's call stack, the innermost first */
    int frame_count;
};
/* Unprotects all pages, and calls `say` for each recorded access. */
void host_access_release(void (*say)(const struct host_access *));

/* To be called around a system call that reads or writes (`fills`) the host's memory. If host_access_call_begin() returns
 * false, no page of the parts was protected, and host_access_call_end() is not called. `used`: the number of bytes that the
 * call used, in the order of the parts; `called_from`: the return address of the function that the program called. Pages
 * that were not used are protected again. */
bool host_access_call_begin(const struct iovec *parts, size_t count, bool fills);
void host_access_call_end(const struct iovec *parts, size_t count, size_t used, bool fills,
                          const void *called_from);

#endif
