/* cuda/host_access.h: with the check `sync`, accesses of the host to memory that it shares with the device, while an
 * operation that uses the same bytes has not been waited for.
 *
 *     p = host_pages_new(touched);            // an operation is done: the pages of shared memory that it used
 *     host_access_guard(p, stamp, ...);       // the host's thread leaves the driver: protect them
 *     host_access_release(say);               // it enters the driver: all pages are as usual
 *
 * Natively an operation is executed when it is submitted, so such a program looks right. On a GPU the operation may still be
 * going on. Between calls of the driver the pages are protected (mprotect): those that the operation wrote against
 * every access, those that it read against writes. A handler of SIGSEGV notes the first access of a page, gives the page
 * free and lets the program go on; the finding is reported at the next call. The access is a finding only if the operation
 * used that very byte.
 *
 * The kernel raises no signal for accesses by system calls: they fail with EFAULT. cuda/interposed/system_calls.c stands in
 * front of libc's functions that read and write files and sockets, gives their pages free and notes what they used.
 *
 * Not found: accesses of more than 4096 pages; later accesses of a page between two calls; accesses while another thread is
 * in the driver; those of memory that an operation accesses strongly (a flag that the host polls: what it guards may be
 * read); bytes of a registered range that share a page with other memory. Still EFAULT: other system calls (ioctl, io_uring,
 * aio, process_vm_readv), system calls that are made without libc, and those inside of libc's other functions.
 *
 * A handler of the program's own stays: it is called for all other faults. */
#ifndef HEDDLE_CUDA_HOST_ACCESS_H
#define HEDDLE_CUDA_HOST_ACCESS_H

#include "cuda/touched.h"

#include <stddef.h>
#include <sys/uio.h>

struct host_pages; /* of one operation */

/* NULL: it used no shared memory, or accessed some strongly. */
struct host_pages *host_pages_new(const struct touched *t);
void host_pages_free(struct host_pages *p); /* NULL is allowed */

/* Protects the pages until host_access_release. `of`: what is reported with an access of theirs. */
void host_access_guard(const struct host_pages *p, const void *of);

struct host_access {
    const void *of;      /* the operation */
    uint64_t address;    /* of the device's memory */
    uint64_t size;       /* 1: the byte that the host accessed first in its page */
    bool writes;         /* the host does; false: it reads, or that is not known */
    void *const *frames; /* return addresses of the host's stack, the innermost first */
    int frame_count;
};
/* Ends the protection. `say` is called for each access that there was. */
void host_access_release(void (*say)(const struct host_access *));

/* Around a system call that reads or writes (`fills`) the host's memory. With a false result no page of the parts was
 * protected, and there is nothing to end. The end gets the number of bytes that were used, in the order of the parts, and the
 * return address of the function that the program called; other pages are protected again. */
bool host_access_call_begin(const struct iovec *parts, size_t count, bool fills);
void host_access_call_end(const struct iovec *parts, size_t count, size_t used, bool fills,
                          const void *called_from);

#endif
