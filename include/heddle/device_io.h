/* heddle/device_io.h: files for CUDA kernels that Heddle runs.
 *
 *     #include <heddle/device_io.h>
 *
 *     __global__ void copy(size_t n)
 *     {
 *         char part[64];
 *         size_t at = 64 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
 *         int from = hd_open("in", HD_RDONLY), to = hd_open("out", HD_WRONLY | HD_CREAT);
 *         long long got = hd_pread(from, part, sizeof part, at);
 *         if (got > 0) hd_pwrite(to, part, got, at);
 *         hd_close(from);
 *         hd_close(to);
 *     }
 *
 *     $ heddle run --files DIR program
 *
 * Names are relative to DIR. Each call is of one thread; the functions hd_warp_... are one call of a whole warp. Handles
 * and their positions belong to the device: any thread may use them, also in later launches. The bytes of a call are
 * read and written by the host at that point of the kernel, as with printf. Files in DIR change when the launch has
 * ended.
 *
 * A result below 0 is an error, with Linux's number: -HD_ENOENT and so on. Without --files, and on a GPU, every call
 * returns -HD_ENOSYS. docs/files.md describes what is refused.
 *
 * For nvcc and for clang's CUDA mode. Needs no library. */
#ifndef HEDDLE_DEVICE_IO_H
#define HEDDLE_DEVICE_IO_H

#if !defined __CUDACC__ && !defined __CUDA__
#error "heddle/device_io.h is for CUDA code"
#endif

enum { /* of hd_open: one of the first three, and others added by | */
       HD_RDONLY = 0,
       HD_WRONLY = 1,
       HD_RDWR = 2,
       HD_CREAT = 4,   /* a file that is not there is made */
       HD_TRUNC = 8,   /* the file becomes empty */
       HD_APPEND = 16, /* each hd_write is at the end */
       HD_EXCL = 32,   /* with HD_CREAT: a file that is there is an error */
};
enum { HD_SEEK_SET, HD_SEEK_CUR, HD_SEEK_END };
enum {
    HD_ENOENT = 2, /* no such file or folder */
    HD_EIO = 5,    /* the host cannot read the file */
    HD_EBADF = 9,  /* no such handle, or it is not open for that */
    HD_EACCES =
        13,        /* the name leaves DIR, or names no ordinary file; the host does not permit it */
    HD_EBUSY = 16, /* hd_unlink of a file that is open */
    HD_EEXIST = 17,       /* HD_EXCL: it is there */
    HD_EISDIR = 21,       /* it is a folder */
    HD_EINVAL = 22,       /* a wrong argument */
    HD_EMFILE = 24,       /* too many handles: 65,536 */
    HD_EFBIG = 27,        /* offset plus size is beyond 2^63 - 1 */
    HD_EROFS = 30,        /* --files DIR:ro */
    HD_ENAMETOOLONG = 36, /* more than 255 bytes between slashes, or 4,095 in all */
    HD_ENOSYS = 38,       /* without --files, and on a GPU */
    HD_ELOOP = 40,        /* a symbolic link */
    HD_EDQUOT = 122,      /* more than --files-bytes */
};

/* Heddle carries out calls of these names; the bodies are for GPUs. A compiler must keep all parameters and know no
 * result: bodies and callers pass values through assembly. */
#define HD_CALL extern "C" inline __device__ __noinline__
#define HD_NO(comment, ...)                                                                        \
    int no;                                                                                        \
    asm volatile("mov.s32 %0, -38; // " comment : "=r"(no) : __VA_ARGS__ : "memory");              \
    return no
HD_CALL int __heddle_file_open(const char *name, int flags)
{
    HD_NO("open %1 %2", "l"(name), "r"(flags));
}
HD_CALL long long __heddle_file_read(int file, void *to, unsigned long long size)
{
    HD_NO("read %1 %2 %3", "r"(file), "l"(to), "l"(size));
}
HD_CALL long long __heddle_file_write(int file, const void *from, unsigned long long size)
{
    HD_NO("write %1 %2 %3", "r"(file), "l"(from), "l"(size));
}
HD_CALL long long __heddle_file_pread(int file, void *to, unsigned long long size, long long at)
{
    HD_NO("pread %1 %2 %3 %4", "r"(file), "l"(to), "l"(size), "l"(at));
}
HD_CALL long long __heddle_file_pwrite(int file, const void *from, unsigned long long size,
                                       long long at)
{
    HD_NO("pwrite %1 %2 %3 %4", "r"(file), "l"(from), "l"(size), "l"(at));
}
HD_CALL long long __heddle_file_lseek(int file, long long offset, int whence)
{
    HD_NO("lseek %1 %2 %3", "r"(file), "l"(offset), "r"(whence));
}
HD_CALL long long __heddle_file_size(int file)
{
    HD_NO("size %1", "r"(file));
}
HD_CALL int __heddle_file_close(int file)
{
    HD_NO("close %1", "r"(file));
}
HD_CALL int __heddle_file_unlink(const char *name)
{
    HD_NO("unlink %1", "l"(name));
}
#undef HD_NO
#undef HD_CALL

static __device__ __forceinline__ int __hd_opaque(int x)
{
    asm volatile("" : "+r"(x));
    return x;
}
static __device__ __forceinline__ long long __hd_opaque(long long x)
{
    asm volatile("" : "+l"(x));
    return x;
}
static __device__ __forceinline__ unsigned long long __hd_opaque(unsigned long long x)
{
    asm volatile("" : "+l"(x));
    return x;
}
template <class T> static __device__ __forceinline__ T *__hd_opaque(T *x)
{
    asm volatile("" : "+l"(x));
    return x;
}

/* ---- one call of each thread ----------------------------------------------------------------------------- */

/* A handle, 0 or more. */
static __device__ __forceinline__ int hd_open(const char *name, int flags)
{
    return __heddle_file_open(__hd_opaque(name), __hd_opaque(flags));
}

/* At the handle's position, which moves on. Results are bytes: fewer than `size` at the end of the file, and at most
 * 64 MiB a call. */
static __device__ __forceinline__ long long hd_read(int file, void *to, unsigned long long size)
{
    return __heddle_file_read(__hd_opaque(file), __hd_opaque(to), __hd_opaque(size));
}
static __device__ __forceinline__ long long hd_write(int file, const void *from,
                                                     unsigned long long size)
{
    return __heddle_file_write(__hd_opaque(file), __hd_opaque(from), __hd_opaque(size));
}

/* At an offset; the handle's position stays. */
static __device__ __forceinline__ long long hd_pread(int file, void *to, unsigned long long size,
                                                     long long at)
{
    return __heddle_file_pread(__hd_opaque(file), __hd_opaque(to), __hd_opaque(size),
                               __hd_opaque(at));
}
static __device__ __forceinline__ long long hd_pwrite(int file, const void *from,
                                                      unsigned long long size, long long at)
{
    return __heddle_file_pwrite(__hd_opaque(file), __hd_opaque(from), __hd_opaque(size),
                                __hd_opaque(at));
}

/* The new position. */
static __device__ __forceinline__ long long hd_lseek(int file, long long offset, int whence)
{
    return __heddle_file_lseek(__hd_opaque(file), __hd_opaque(offset), __hd_opaque(whence));
}

/* Bytes of the file. */
static __device__ __forceinline__ long long hd_size(int file)
{
    return __heddle_file_size(__hd_opaque(file));
}

/* 0. */
static __device__ __forceinline__ int hd_close(int file)
{
    return __heddle_file_close(__hd_opaque(file));
}
static __device__ __forceinline__ int hd_unlink(const char *name)
{
    return __heddle_file_unlink(__hd_opaque(name));
}

/* ---- one call of a warp ---------------------------------------------------------------------------------- */

/* The threads of `mask` call with the same arguments; the lowest carries it out, and all get the result. Buffers are in
 * memory that all of them can read: global or shared. */
static __device__ __forceinline__ bool __hd_leads(unsigned mask)
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane == (unsigned)__ffs((int)mask) - 1;
}

static __device__ __forceinline__ int hd_warp_open(const char *name, int flags,
                                                   unsigned mask = 0xffffffff)
{
    int result = 0;
    __syncwarp(mask);
    if (__hd_leads(mask)) result = hd_open(name, flags);
    return __shfl_sync(mask, result, __ffs((int)mask) - 1);
}

static __device__ __forceinline__ long long
hd_warp_pread(int file, void *to, unsigned long long size, long long at, unsigned mask = 0xffffffff)
{
    long long result = 0;
    __syncwarp(mask);
    if (__hd_leads(mask)) result = hd_pread(file, to, size, at);
    __syncwarp(mask);
    return __shfl_sync(mask, result, __ffs((int)mask) - 1);
}

static __device__ __forceinline__ long long hd_warp_pwrite(int file, const void *from,
                                                           unsigned long long size, long long at,
                                                           unsigned mask = 0xffffffff)
{
    long long result = 0;
    __syncwarp(mask);
    if (__hd_leads(mask)) result = hd_pwrite(file, from, size, at);
    __syncwarp(mask);
    return __shfl_sync(mask, result, __ffs((int)mask) - 1);
}

static __device__ __forceinline__ int hd_warp_close(int file, unsigned mask = 0xffffffff)
{
    int result = 0;
    __syncwarp(mask);
    if (__hd_leads(mask)) result = hd_close(file);
    return __shfl_sync(mask, result, __ffs((int)mask) - 1);
}

#endif
