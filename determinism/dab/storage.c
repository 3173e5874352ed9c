/* The storage of DAB's hardware (MICRO 2020, sections IV-B to IV-D and VI). */
#include "determinism/storage.h"
#include "determinism/dab/internal.h"
#include "emu/gpu.h"

enum {
    ADDRESS_BYTES = 5,
    ARGUMENT_BYTES = 4,
    OPCODE_BYTES = 1, /* of an entry (IV-B) */
    BUFFER_FLAGS = 2, /* full and not empty (IV-B) */
};

void dab_storage(const void *options, const struct emu_gpu *gpu, struct order_storage *out)
{
    const struct dab_options *o = options;
    const uint32_t sms = o->sms && o->sms < gpu->sms ? o->sms : gpu->sms;
    const uint64_t buffers = o->level == DAB_WARP ? gpu->warps : gpu->schedulers,
                   entries = buffers * o->entries;
    out->units[STORAGE_SM] = sms;
    out->units[STORAGE_PARTITION] = o->partitions;
    order_storage_add(
        out, (struct order_storage_part){STORAGE_SM, entries, 8 * (ADDRESS_BYTES + ARGUMENT_BYTES),
                                         "entries of the buffers: address and argument",
                                         "IV-B, VI: 9 bytes an entry, 2.3 KB for 4 buffers of 64"});
    order_storage_add(out,
                      (struct order_storage_part){
                          STORAGE_SM, entries, 8 * OPCODE_BYTES, "their opcodes and valid bits",
                          "IV-B: 1 byte, which the 9 bytes leave out and the 20 KB of IV-B count"});
    order_storage_add(out, (struct order_storage_part){STORAGE_SM, buffers, BUFFER_FLAGS,
                                                       "full and non-empty bits", "IV-B"});
    if (!o->reorder) return;
    const uint32_t width = order_storage_width(entries);
    order_storage_add(out, (struct order_storage_part){
                               STORAGE_PARTITION, sms, width, "expected transactions of each SM",
                               "IV-D; width: as many transactions as the SM has entries"});
    order_storage_add(
        out, (struct order_storage_part){
                 o->queue == DAB_L2_QUEUE ? STORAGE_BORROWED : STORAGE_PARTITION, sms * entries,
                 8 * (ADDRESS_BYTES + ARGUMENT_BYTES + OPCODE_BYTES) + order_storage_width(sms - 1),
                 o->queue == DAB_L2_QUEUE ? "reductions that wait for their turn, in L2, at most"
                                          : "reductions that wait for their turn, at most",
                 "IV-D; unbounded in V; here: all entries of all SMs for one partition"});
    if (o->queue != DAB_L2_QUEUE)
        out->note =
            "The paper's 2.3 KB holds with queue=l2: L2 keeps what waits for its turn (IV-D).";
}
