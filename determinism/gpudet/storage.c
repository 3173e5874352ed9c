/* The storage of GPUDet's hardware (thesis, sections 4.3, 4.4.3 and 5.2). */
#include "determinism/storage.h"
#include "determinism/gpudet/internal.h"
#include "emu/gpu.h"

enum {
    CHUNK_ADDRESS = ORDER_STORAGE_ADDRESS - 7, /* of a chunk of 128 bytes */
    CHUNK_BITS = 8 * GPUDET_CHUNK,             /* 32 colours, or 32 depths, of 32 bits */
    MASK = GPUDET_CHUNK,                       /* a bit for each byte */
    REQUEST_STATUS = 2,                        /* invalid, ready, blocked (4.4.3) */
    LINE_STATUS = 2,                           /* valid, locked (4.4.3) */
};

static void z_units(const struct gpudet_options *o, struct order_storage *out)
{
    const uint32_t lines = o->zcache / GPUDET_CHUNK, sets = lines / o->ways;
    /* Rounded down where the number of sets is no power of two. */
    const uint32_t index = order_storage_width(sets) - 1;
    out->units[STORAGE_PARTITION] = o->partitions;
    order_storage_add(out, (struct order_storage_part){
                               STORAGE_PARTITION, lines, CHUNK_BITS, "lines of the Z cache",
                               "thesis 4.4.3, 5.2: 16 KB, lines of 128 bytes, 4 ways"});
    order_storage_add(out, (struct order_storage_part){
                               STORAGE_PARTITION, lines, CHUNK_ADDRESS - index + LINE_STATUS,
                               "their tags, valid and lock bits",
                               "thesis 4.4.3; addresses of 40 bits are assumed"});
    order_storage_add(out, (struct order_storage_part){
                               STORAGE_PARTITION, o->requests,
                               CHUNK_ADDRESS + 2 * CHUNK_BITS + MASK + REQUEST_STATUS,
                               "requests: address, 32 values, 32 depths, mask, status",
                               "thesis 4.4.3, figure 4.7; addresses of 40 bits are assumed"});
}

void gpudet_storage(const void *options, const struct emu_gpu *gpu, struct order_storage *out)
{
    const struct gpudet_options *o = options;
    if (!o->buffer) return;
    order_storage_add(out, (struct order_storage_part){
                               STORAGE_SM, gpu->warps, o->bloom, "Bloom filters, one for each warp",
                               "thesis 4.3: 6 KB for 48 warps of 1024 bits; may be in registers"});
    if (o->commit == GPUDET_ZBUFFER) z_units(o, out);
    order_storage_add(
        out, (struct order_storage_part){STORAGE_BORROWED, (uint64_t)gpu->sms * gpu->warps * o->log,
                                         CHUNK_ADDRESS + CHUNK_BITS + MASK,
                                         "entries of write logs, in private memory, at most",
                                         "thesis 4.3; the length of a log is Heddle's option log"});
    out->note =
        o->commit == GPUDET_ZBUFFER
            ? "Not counted: the buffer of the comparator, whose size the thesis does not name (4.4.3);\n"
              "a depth of 32 bits in device memory for each word that kernels may write (4.4.2)."
            : "Not counted: a lock in device memory for each word that kernels may write (6.2.2).";
}
