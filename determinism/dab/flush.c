/* DAB's flush (MICRO 2020, section IV-D): from the buffers of SMs through the network to the partitions of memory.
 *
 * The transactions of one SM keep their order in the network; the adversary chooses the order in which those of
 * different SMs arrive. Each cluster of SMs first sends each partition a pre-flush message with the number of
 * transactions of each of its SMs. When a partition has all messages, it executes one transaction of each SM in turn,
 * and skips SMs without remaining transactions (determinism/hardware/flush.h). So the order depends on the buffers'
 * contents alone. A transaction that arrives before its turn waits in the partition's flush buffer.
 *
 * dab.c sends buffers and flushes them. Flushes do not overlap, unless overlap=on (nr-of, VI-B4). If no observer and no
 * counter depends on arrival times, flush_at_once.c executes the transactions in the same order with less work. */
#include "determinism/dab/net.h"

#include "base/rng.h"
#include "emu/atomic.h"

#include <stdlib.h>
#include <string.h>

struct dab_net *dab_net_new(const struct dab_options *o, uint32_t sms, uint64_t *random,
                            struct dab_counts *counts)
{
    struct dab_net *n = calloc(1, sizeof *n);
    if (!n) abort();
    *n = (struct dab_net){.options = o, .counts = counts, .sms = sms};
    n->random = random;
    n->inverse = UINT64_MAX / o->partitions;
    n->clusters = (sms + o->sms_per_cluster - 1) / o->sms_per_cluster;
    n->send_queues = calloc(sms, sizeof *n->send_queues);
    n->active = calloc(sms, sizeof *n->active);
    n->left = calloc(sms, sizeof *n->left);
    n->queued = calloc(o->partitions, sizeof *n->queued);
    n->partition_queues = calloc((size_t)sms * o->partitions, sizeof *n->partition_queues);
    n->partitions = calloc(o->partitions, sizeof *n->partitions);
    if (!n->send_queues || !n->active || !n->left || !n->queued || !n->partition_queues ||
        !n->partitions)
        abort();
    return n;
}

static void forget_copies(struct dab_net *n)
{
    while (n->copy_count) {
        struct dab_buffer *b = n->copies[--n->copy_count];
        dab_buffer_free(b);
        free(b);
    }
}

void dab_net_begin(struct dab_net *n, struct emu_machine *m, bool by_sector)
{
    forget_copies(n);
    for (uint32_t s = 0; s < n->sms; s++) n->send_queues[s] = (struct sm_send_queue){NONE, NONE, 0};
    n->m = m;
    n->active_count = n->transaction_count = n->waiting = n->sent_count = 0;
    n->by_sector = by_sector;
    n->at_once = n->options->reorder && !emu_machine_is_counted(m) &&
                 !emu_machine_drains_observed(m);
}

void dab_net_free(struct dab_net *n)
{
    if (!n) return;
    forget_copies(n);
    free(n->copies);
    free(n->transactions);
    free(n->send_queues);
    free(n->active);
    free(n->partition_queues);
    free(n->partitions);
    free(n->sectors);
    free(n->sent_buffer);
    free(n->left);
    free(n->queued);
    free(n->place);
    free(n->first);
    free(n->list);
    free(n->order);
    free(n);
}

/* ---- sending ---------------------------------------------------------------------------------------- */

static uint32_t new_transaction(struct dab_net *n, uint32_t sm, struct dab_buffer *from,
                                uint64_t address)
{
    n->transactions = dab_net_grow(n->transactions, n->transaction_count, &n->transaction_cap,
                                   sizeof *n->transactions);
    const uint32_t p = n->transaction_count++;
    n->transactions[p] = (struct transaction){from, NONE, NONE, dab_net_partition_of(n, address),
                                              NONE};
    struct sm_send_queue *s = &n->send_queues[sm];
    if (s->first == NONE) {
        s->first = p;
        s->at = n->active_count;
        n->active[n->active_count++] = sm;
    } else n->transactions[s->last].after = p;
    s->last = p;
    n->counts->transactions++;
    return p;
}

/* The packet of the buffer that goes to this sector already; a new one. */
static uint32_t transaction_for(struct dab_net *n, uint32_t sm, struct dab_buffer *from,
                                uint64_t address)
{
    bool is_new;
    if (!n->options->coalescing) return new_transaction(n, sm, from, address);
    struct sector_slot *f = dab_net_find_sector(n, address, &is_new);
    if (is_new) f->is = new_transaction(n, sm, from, address);
    else n->counts->coalesced++;
    return f->is;
}

void dab_net_send(struct dab_net *n, uint32_t sm, struct dab_buffer *b)
{
    if (n->at_once) {
        n->sent_buffer = dab_net_grow(n->sent_buffer, n->sent_count, &n->sent_cap,
                                      sizeof *n->sent_buffer);
        n->sent_buffer[n->sent_count++] = (struct sent_buffer){b, sm};
        return;
    }
    const uint32_t begin = dab_net_first_entry(n, sm, b);
    dab_net_clear_sectors(n, b->count);
    if (n->options->overlap) {
        n->copies = dab_net_grow(n->copies, n->copy_count, &n->copy_cap, sizeof *n->copies);
        b = n->copies[n->copy_count++] = dab_buffer_copy(b);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t e = i + begin < b->count ? i + begin : i + begin - b->count;
        const uint32_t at = transaction_for(n, sm, b, b->entries[e].address);
        struct transaction *p = &n->transactions[at];
        b->entries[e].next = NONE;
        if (p->first == NONE) p->first = e;
        else b->entries[p->last].next = e;
        p->last = e;
    }
    n->counts->entries += b->count;
}

/* ---- arriving --------------------------------------------------------------------------------------- */

static void apply_transaction(struct dab_net *n, uint32_t transaction)
{
    struct dab_buffer *b = n->transactions[transaction].from;
    for (uint32_t i = n->transactions[transaction].first; i != NONE; i = b->entries[i].next) {
        struct dab_entry *e = &b->entries[i];
        const uint8_t *data = dab_data(b, e);
        for (uint32_t k = 0; k < e->count; k++) {
            const uint32_t at = k * e->width;
            emu_machine_reduce(n->m, b->issuers[e->issuer], e->address + at, e->op, e->type,
                               data + at, NULL);
        }
    }
}

/* The next that comes out of the network, of an SM by chance. */
static uint32_t next_arrival(struct dab_net *n, uint32_t *sm)
{
    *sm = n->active[n->active_count > 1 ? rng_below(n->random, n->active_count) : 0];
    struct sm_send_queue *s = &n->send_queues[*sm];
    const uint32_t p = s->first;
    s->first = n->transactions[p].after;
    if (s->first == NONE) {
        const uint32_t last = n->active[--n->active_count];
        n->active[s->at] = last;
        n->send_queues[last].at = s->at;
    }
    if (!n->active_count) n->transaction_count = 0; /* what it holds stays good */
    return p;
}

static struct partition_queue *partition_queue_of(struct dab_net *n, uint32_t partition,
                                                  uint32_t sm)
{
    return &n->partition_queues[(size_t)partition * n->sms + sm];
}

/* The pre-flush messages: what each partition is to expect. */
static void send_pre_flush(struct dab_net *n)
{
    for (uint32_t p = 0; p < n->options->partitions; p++)
        n->partitions[p] = (struct partition){NONE, NONE, 0};
    for (uint32_t sm = 0; sm < n->sms; sm++)
        for (uint32_t i = n->send_queues[sm].first; i != NONE; i = n->transactions[i].after) {
            struct partition *p = &n->partitions[n->transactions[i].partition];
            struct partition_queue *q = partition_queue_of(n, n->transactions[i].partition, sm);
            if (p->last != sm) { /* its first */
                *q = (struct partition_queue){.first = NONE, .last = NONE, .next_sm = sm};
                if (p->turn == NONE) p->turn = sm;
                else {
                    q->next_sm = p->turn;
                    partition_queue_of(n, n->transactions[i].partition, p->last)->next_sm = sm;
                }
                p->last = sm;
            }
            q->expected++;
        }
    n->counts->messages += flush_messages(n->clusters, n->options->partitions);
}

/* Those whose turn it is, as far as they have arrived. `last` of the partition is the SM before `turn`. */
static void apply_ready_transactions(struct dab_net *n, uint32_t partition)
{
    struct partition *p = &n->partitions[partition];
    while (p->turn != NONE) {
        struct partition_queue *q = partition_queue_of(n, partition, p->turn);
        const uint32_t transaction = q->first;
        if (transaction == NONE) return;
        q->first = n->transactions[transaction].after;
        n->waiting--;
        apply_transaction(n, transaction);
        if (++q->done < q->expected) p->last = p->turn;
        else if (p->last == p->turn) {
            p->turn = NONE;
            return;
        } else partition_queue_of(n, partition, p->last)->next_sm = q->next_sm;
        p->turn = q->next_sm;
    }
}

static void enqueue(struct dab_net *n, uint32_t transaction, uint32_t sm)
{
    struct partition_queue *q = partition_queue_of(n, n->transactions[transaction].partition, sm);
    n->transactions[transaction].after = NONE;
    if (q->first == NONE) q->first = transaction;
    else n->transactions[q->last].after = transaction;
    q->last = transaction;
    n->waiting++;
}

/* The last pre-flush message comes when `late` transactions have arrived: until then all of them wait. */
static void arrive_reordered(struct dab_net *n)
{
    const uint32_t total = n->transaction_count, late = rng_below(n->random, total + 1);
    send_pre_flush(n);
    bool ready = false;
    for (uint32_t i = 0; i < total; i++) {
        uint32_t sm;
        const uint32_t transaction = next_arrival(n, &sm),
                       at = n->transactions[transaction].partition;
        struct partition_queue *q = partition_queue_of(n, at, sm);
        const bool turn = ready && n->partitions[at].turn == sm && q->first == NONE;
        enqueue(n, transaction, sm);
        if (!turn) {
            n->counts->early++;
            if (n->waiting > n->counts->waiting) n->counts->waiting = n->waiting;
        }
        if (ready) apply_ready_transactions(n, at);
        else if (i >= late) {
            ready = true;
            for (uint32_t p = 0; p < n->options->partitions; p++) apply_ready_transactions(n, p);
        }
    }
    if (!ready)
        for (uint32_t p = 0; p < n->options->partitions; p++) apply_ready_transactions(n, p);
}

void dab_net_arrive_one(struct dab_net *n)
{
    uint32_t sm;
    if (n->active_count) apply_transaction(n, next_arrival(n, &sm));
}

void dab_net_drain(struct dab_net *n)
{
    while (n->active_count) dab_net_arrive_one(n);
    forget_copies(n);
}

void dab_net_flush(struct dab_net *n)
{
    if (n->sent_count) dab_net_flush_at_once(n);
    n->sent_count = 0;
    if (!n->active_count) return;
    if (n->options->reorder) arrive_reordered(n);
    else {
        n->counts->messages += flush_messages(n->clusters, n->options->partitions);
        if (!n->options->overlap) dab_net_drain(n);
    }
}
