/* The storage of DAB's hardware (MICRO 2020, sections IV-B to IV-D and VI). */
#include "determinism/storage.h"
#include "determinism/dab/internal.h"
#include "emu/gpu.h"

enum {
    /* Bits of an entry (IV-B: 5, 4 and 1 bytes). */
    KEPT = ORDER_STORAGE_ADDRESS + 32, /* address and argument */
    OPCODE = 8,                        /* with the valid bit */
    BUFFER_FLAGS = 2,                  /* full, non-empty (IV-B) */
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
        out, (struct order_storage_part){STORAGE_SM, entries, KEPT,
                                         "entries of the buffers: address and argument",
                                         "IV-B, VI: 9 bytes an entry, 2.3 KB for 4 buffers of 64"});
    order_storage_add(out, (struct order_storage_part){
                               STORAGE_SM, entries, OPCODE, "their opcodes and valid bits",
                               "IV-B: 1 byte: in its 20 KB, not in the 9 bytes"});
    order_storage_add(out, (struct order_storage_part){STORAGE_SM, buffers, BUFFER_FLAGS,
                                                       "full and non-empty bits", "IV-B"});
    if (!o->reorder) return;
    const uint32_t width = order_storage_width(entries);
    order_storage_add(out, (struct order_storage_part){
                               STORAGE_PARTITION, sms, width, "expected transactions of each SM",
                               "IV-D; width: as many transactions as the SM has entries"});
    order_storage_add(out, (struct order_storage_part){
                               o->queue == DAB_L2_QUEUE ? STORAGE_BORROWED : STORAGE_PARTITION,
                               sms * entries, KEPT + OPCODE + order_storage_width(sms - 1),
                               o->queue == DAB_L2_QUEUE
                                   ? "reductions that wait for their turn, in L2, at most"
                                   : "reductions that wait for their turn, at most",
                               "IV-D, V: unbounded; here all entries of all SMs"});
    if (o->queue != DAB_L2_QUEUE)
        out->note =
            "The paper's 2.3 KB holds with queue=l2: L2 keeps what waits for its turn (IV-D).";
}
