// Files that a kernel reads and writes: docs/files.md.
#include <heddle/device_io.h>

// Each thread copies 64 bytes of the file `in` to the same place of the file `out`.
extern "C" __global__ void copy(int *failed)
{
    char part[64];
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    long long at = (long long)sizeof part * thread;
    int from = hd_open("in", HD_RDONLY), to = hd_open("out", HD_WRONLY | HD_CREAT);
    long long got = hd_pread(from, part, sizeof part, at);
    long long put = got > 0 ? hd_pwrite(to, part, got, at) : 0;
    failed[thread] = from < 0 || to < 0 || got < 0 || put != got || hd_close(from) || hd_close(to);
}

// Each thread writes its number at the end of the file `log`. The order of the threads decides what is in there.
extern "C" __global__ void append(int *result)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    int file = hd_open("log", HD_WRONLY | HD_CREAT | HD_APPEND);
    result[thread] = (int)hd_write(file, &thread, sizeof thread);
    hd_close(file);
}

// Each warp reads 32 words of the file `in` by one call, and stores them in reverse.
extern "C" __global__ void reverse(unsigned *result)
{
    __shared__ unsigned words[32];
    int file = hd_warp_open("in", HD_RDONLY);
    long long at = (long long)sizeof words * blockIdx.x, got = hd_warp_pread(file, words, sizeof words, at);
    result[32 * blockIdx.x + threadIdx.x] = got == sizeof words ? words[31 - threadIdx.x] : 0;
    hd_warp_close(file);
}
