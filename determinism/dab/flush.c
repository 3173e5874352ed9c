/* Flushes of dab: from the buffers of SMs through the network to the partitions of memory.
 *
 * What one SM sends keeps its order on the way; what several send arrives in an order that is the adversary's. Each
 * cluster of SMs first tells each partition how many transactions to expect of each of its SMs. When a partition has
 * heard of all of them it carries transactions out, one of each SM in turn, and those that have none left are
 * passed over: so the order is that of the buffers' contents alone. A transaction that comes before its turn waits.
 *
 * Where nobody counts or is told of what arrives when, a flush is carried out in that order at once. The adversary
 * draws what it would have drawn, and is then where it would have been. Of a launch that has ended before the order hears
 * of it (emu/speculate/deferred.h) there is nothing that could depend on what it draws. */
#include "base/rng.h"
#include "determinism/dab/internal.h"
#include "emu/atomic.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX, INTERLEAVE = 256, SOME = 128, SOON = 8 };

struct packet { /* a transaction: entries of one sector */
    struct dab_buffer *from;
    uint32_t first, last; /* entries of that, linked by `next` */
    uint32_t partition;
    uint32_t after; /* the SM's next one, by age */
};
struct stream { /* what an SM has sent and has not arrived */
    uint32_t first, last;
    uint32_t at; /* place in `active` */
};
struct queue { /* of one SM at one partition, in this flush */
    uint32_t expected, done;
    uint32_t first, last; /* packets that wait */
    uint32_t next_sm;     /* of those that have more: a ring */
};
struct sent { /* a buffer */
    struct dab_buffer *from;
    uint32_t sm;
};
struct found { /* a sector */
    uint64_t sector;
    uint32_t stamp; /* another one than the net's: of another buffer */
    uint32_t is;    /* its packet, or its first entry */
};
struct partition {
    uint32_t turn; /* SM; NONE: all is done */
    uint32_t last; /* while the ring is made */
    uint32_t waiting;
};

struct dab_net {
    const struct dab_options *options;
    struct emu_machine *m;
    uint64_t *chance;
    struct dab_counts *counts;
    uint32_t sms, clusters;
    struct packet *packets;
    uint32_t packet_count, packet_cap;
    struct dab_buffer **copies; /* of what is on its way */
    uint32_t copy_count, copy_cap;
    struct stream *streams;
    uint32_t *active, active_count; /* SMs that have sent */
    struct queue *queues;           /* [partition][SM] */
    struct partition *partitions;
    uint32_t waiting;      /* in all flush buffers */
    struct found *sectors; /* of a buffer that is being sent: open addressing */
    uint32_t sector_slots, stamp;
    /* At once: */
    bool at_once;
    struct sent *sent;
    uint32_t sent_count, sent_cap;
    uint32_t *left;                          /* by place in `active`: transactions of the SM */
    uint32_t *queued;                        /* of an SM, by partition: likewise */
    uint32_t *place, place_cap;              /* of each entry: its transaction's in its queue */
    uint32_t *first, first_cap, place_count; /* of each place: where its elements begin in the */
    struct emu_reduction *list;              /* elements, in the order in which they are done */
    uint32_t list_cap;
    bool by_sector;                  /* buffers have these */
    const struct dab_sector **order; /* in which they are done */
    uint32_t order_cap;
    uint64_t inverse; /* 2^64 / partitions */
};

/* The partition of an address. */
static inline uint32_t partition_of(const struct dab_net *n, uint64_t address)
{
    const uint64_t row = address / INTERLEAVE, by = n->options->partitions;
    if (by == 1) return 0;
    const uint64_t rest = row - (uint64_t)((unsigned __int128)row * n->inverse >> 64) * by;
    return (uint32_t)(rest < by ? rest : rest - by);
}

struct dab_net *dab_net_new(const struct dab_options *o, uint32_t sms, uint64_t *chance,
                            struct dab_counts *counts)
{
    struct dab_net *n = calloc(1, sizeof *n);
    if (!n) abort();
    *n = (struct dab_net){.options = o, .counts = counts, .sms = sms};
    n->chance = chance;
    n->inverse = UINT64_MAX / o->partitions;
    n->clusters = (sms + o->sms_per_cluster - 1) / o->sms_per_cluster;
    n->streams = calloc(sms, sizeof *n->streams);
    n->active = calloc(sms, sizeof *n->active);
    n->left = calloc(sms, sizeof *n->left);
    n->queued = calloc(o->partitions, sizeof *n->queued);
    n->queues = calloc((size_t)sms * o->partitions, sizeof *n->queues);
    n->partitions = calloc(o->partitions, sizeof *n->partitions);
    if (!n->streams || !n->active || !n->left || !n->queued || !n->queues || !n->partitions)
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
    for (uint32_t s = 0; s < n->sms; s++) n->streams[s] = (struct stream){NONE, NONE, 0};
    n->m = m;
    n->active_count = n->packet_count = n->waiting = n->sent_count = 0;
    n->by_sector = by_sector;
    n->at_once = n->options->reorder && !emu_machine_is_counted(m) &&
                 !emu_machine_drains_observed(m);
}

void dab_net_free(struct dab_net *n)
{
    if (!n) return;
    forget_copies(n);
    free(n->copies);
    free(n->packets);
    free(n->streams);
    free(n->active);
    free(n->queues);
    free(n->partitions);
    free(n->sectors);
    free(n->sent);
    free(n->left);
    free(n->queued);
    free(n->place);
    free(n->first);
    free(n->list);
    free(n->order);
    free(n);
}

static void *room(void *list, uint32_t count, uint32_t *cap, size_t size)
{
    if (count < *cap) return list;
    if (!*cap) *cap = 256;
    while (*cap <= count) *cap *= 2;
    list = realloc(list, *cap * size);
    if (!list) abort();
    return list;
}

/* ---- sending ---------------------------------------------------------------------------------------- */

static uint32_t packet_new(struct dab_net *n, uint32_t sm, struct dab_buffer *from,
                           uint64_t address)
{
    n->packets = room(n->packets, n->packet_count, &n->packet_cap, sizeof *n->packets);
    const uint32_t p = n->packet_count++;
    n->packets[p] = (struct packet){from, NONE, NONE, partition_of(n, address), NONE};
    struct stream *s = &n->streams[sm];
    if (s->first == NONE) {
        s->first = p;
        s->at = n->active_count;
        n->active[n->active_count++] = sm;
    } else n->packets[s->last].after = p;
    s->last = p;
    n->counts->transactions++;
    return p;
}

static void forget_sectors(struct dab_net *n, uint32_t entries)
{
    if (n->sector_slots < 2 * entries) {
        free(n->sectors);
        for (n->sector_slots = 256; n->sector_slots < 2 * entries;) n->sector_slots *= 2;
        n->sectors = calloc(n->sector_slots, sizeof *n->sectors);
        if (!n->sectors) abort();
        n->stamp = 0;
    }
    n->stamp++;
}

/* Where a sector is; *is_new: where it is to be. Which of them is anybody's guess, the host's, too. */
static inline struct found *find_sector(struct dab_net *n, uint64_t address, bool *is_new)
{
    const uint64_t sector = address / DAB_SECTOR;
    struct found *const list = n->sectors;
    const uint32_t stamp = n->stamp, last = n->sector_slots - 1;
    uint32_t i = (uint32_t)((sector * RNG_STEP) >> 32) & last;
    while ((list[i].stamp == stamp) & (list[i].sector != sector)) i = (i + 1) & last;
    *is_new = list[i].stamp != stamp;
    list[i].sector = sector;
    list[i].stamp = stamp;
    return &list[i];
}

/* The packet of the buffer that goes to this sector already; a new one. */
static uint32_t packet_for(struct dab_net *n, uint32_t sm, struct dab_buffer *from,
                           uint64_t address)
{
    bool is_new;
    if (!n->options->coalescing) return packet_new(n, sm, from, address);
    struct found *f = find_sector(n, address, &is_new);
    if (is_new) f->is = packet_new(n, sm, from, address);
    else n->counts->coalesced++;
    return f->is;
}

/* The entry that goes first: SMs of even number may begin in the middle. */
static uint32_t first_entry(const struct dab_net *n, uint32_t sm, const struct dab_buffer *b)
{
    return b->unlike ? 0 : atomic_buffer_first(n->options->offset, sm, b->count);
}

void dab_net_send(struct dab_net *n, uint32_t sm, struct dab_buffer *b)
{
    if (n->at_once) {
        n->sent = room(n->sent, n->sent_count, &n->sent_cap, sizeof *n->sent);
        n->sent[n->sent_count++] = (struct sent){b, sm};
        return;
    }
    const uint32_t begin = first_entry(n, sm, b);
    forget_sectors(n, b->count);
    if (n->options->overlap) {
        n->copies = room(n->copies, n->copy_count, &n->copy_cap, sizeof *n->copies);
        b = n->copies[n->copy_count++] = dab_buffer_copy(b);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t e = i + begin < b->count ? i + begin : i + begin - b->count;
        const uint32_t at = packet_for(n, sm, b, b->entries[e].address);
        struct packet *p = &n->packets[at];
        b->entries[e].next = NONE;
        if (p->first == NONE) p->first = e;
        else b->entries[p->last].next = e;
        p->last = e;
    }
    n->counts->entries += b->count;
}

/* ---- arriving --------------------------------------------------------------------------------------- */

static void carry_out(struct dab_net *n, uint32_t packet)
{
    struct dab_buffer *b = n->packets[packet].from;
    for (uint32_t i = n->packets[packet].first; i != NONE; i = b->entries[i].next) {
        struct dab_entry *e = &b->entries[i];
        const uint8_t *data = dab_data(b, e);
        for (uint32_t k = 0; k < e->count; k++) {
            const uint32_t at = k * e->width;
            emu_machine_reduce(n->m, b->authors[e->author], e->address + at, e->op, e->type,
                               data + at, NULL);
        }
    }
}

/* The next that comes out of the network, of an SM by chance. */
static uint32_t next_packet(struct dab_net *n, uint32_t *sm)
{
    *sm = n->active[n->active_count > 1 ? rng_below(n->chance, n->active_count) : 0];
    struct stream *s = &n->streams[*sm];
    const uint32_t p = s->first;
    s->first = n->packets[p].after;
    if (s->first == NONE) {
        const uint32_t last = n->active[--n->active_count];
        n->active[s->at] = last;
        n->streams[last].at = s->at;
    }
    if (!n->active_count) n->packet_count = 0; /* what it holds stays good */
    return p;
}

static struct queue *queue_of(struct dab_net *n, uint32_t partition, uint32_t sm)
{
    return &n->queues[(size_t)partition * n->sms + sm];
}

/* The pre-flush messages: what each partition is to expect. */
static void announce(struct dab_net *n)
{
    for (uint32_t p = 0; p < n->options->partitions; p++)
        n->partitions[p] = (struct partition){NONE, NONE, 0};
    for (uint32_t sm = 0; sm < n->sms; sm++)
        for (uint32_t i = n->streams[sm].first; i != NONE; i = n->packets[i].after) {
            struct partition *p = &n->partitions[n->packets[i].partition];
            struct queue *q = queue_of(n, n->packets[i].partition, sm);
            if (p->last != sm) { /* its first */
                *q = (struct queue){.first = NONE, .last = NONE, .next_sm = sm};
                if (p->turn == NONE) p->turn = sm;
                else {
                    q->next_sm = p->turn;
                    queue_of(n, n->packets[i].partition, p->last)->next_sm = sm;
                }
                p->last = sm;
            }
            q->expected++;
        }
    n->counts->messages += flush_messages(n->clusters, n->options->partitions);
}

/* Those whose turn it is, as far as they have arrived. `last` of the partition is the SM before `turn`. */
static void in_turn(struct dab_net *n, uint32_t partition)
{
    struct partition *p = &n->partitions[partition];
    while (p->turn != NONE) {
        struct queue *q = queue_of(n, partition, p->turn);
        const uint32_t packet = q->first;
        if (packet == NONE) return;
        q->first = n->packets[packet].after;
        n->waiting--;
        carry_out(n, packet);
        if (++q->done < q->expected) p->last = p->turn;
        else if (p->last == p->turn) {
            p->turn = NONE;
            return;
        } else queue_of(n, partition, p->last)->next_sm = q->next_sm;
        p->turn = q->next_sm;
    }
}

static void wait_in(struct dab_net *n, uint32_t packet, uint32_t sm)
{
    struct queue *q = queue_of(n, n->packets[packet].partition, sm);
    n->packets[packet].after = NONE;
    if (q->first == NONE) q->first = packet;
    else n->packets[q->last].after = packet;
    q->last = packet;
    n->waiting++;
}

/* The last pre-flush message comes when `late` transactions have arrived: until then all of them wait. */
static void arrive_in_order(struct dab_net *n)
{
    const uint32_t total = n->packet_count, late = rng_below(n->chance, total + 1);
    announce(n);
    bool ready = false;
    for (uint32_t i = 0; i < total; i++) {
        uint32_t sm;
        const uint32_t packet = next_packet(n, &sm), at = n->packets[packet].partition;
        struct queue *q = queue_of(n, at, sm);
        const bool turn = ready && n->partitions[at].turn == sm && q->first == NONE;
        wait_in(n, packet, sm);
        if (!turn) {
            n->counts->early++;
            if (n->waiting > n->counts->waiting) n->counts->waiting = n->waiting;
        }
        if (ready) in_turn(n, at);
        else if (i >= late) {
            ready = true;
            for (uint32_t p = 0; p < n->options->partitions; p++) in_turn(n, p);
        }
    }
    if (!ready)
        for (uint32_t p = 0; p < n->options->partitions; p++) in_turn(n, p);
}

/* ---- all at once -------------------------------------------------------------------------------------- */

/* Whether all entries are of one kind. */
static bool are_alike(const struct dab_net *n)
{
    const struct dab_entry *one = n->sent[0].from->entries;
    bool same = true;
    for (uint32_t i = 0; same && i < n->sent_count; i++) {
        const struct dab_buffer *b = n->sent[i].from;
        same = !b->mixed && b->entries->op == one->op && b->entries->type == one->type &&
               b->entries->width == one->width;
    }
    return same;
}

/* How many transactions the buffer makes. */
static uint32_t count_sectors(struct dab_net *n, const struct dab_buffer *b)
{
    uint32_t count = 0;
    if (!n->options->coalescing) return b->count;
    forget_sectors(n, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        bool is_new;
        find_sector(n, b->entries[i].address, &is_new);
        count += is_new;
    }
    return count;
}

static void forget_places(struct dab_net *n)
{
    n->place_count = 0;
    n->first = room(n->first, 0, &n->first_cap, sizeof *n->first);
    n->first[0] = 0;
}

/* There are so many more at that place of queues. */
static inline void add_to_place(struct dab_net *n, uint32_t place, uint32_t count)
{
    if (place >= n->place_count) {
        n->first = room(n->first, place + 1, &n->first_cap, sizeof *n->first);
        for (; n->place_count <= place; n->place_count++) n->first[n->place_count + 1] = 0;
    }
    n->first[place + 1] += count;
}

/* Likewise. queue: of its SM by partition how many there are; of each entry from `at` on its transaction's place
 * there is noted, and of each place how many elements it has. */
static uint32_t pack(struct dab_net *n, const struct sent *s, uint32_t *queue, uint32_t at)
{
    const struct dab_buffer *const b = s->from;
    const uint32_t begin = first_entry(n, s->sm, b);
    uint32_t *const place = n->place + at;
    uint32_t transactions = 0, last = 0;
    uint64_t sector = 0; /* of the entry before */
    const bool coalesces = n->options->coalescing;
    forget_sectors(n, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t e = i + begin < b->count ? i + begin : i + begin - b->count;
        const uint64_t address = b->entries[e].address;
        if (!coalesces || !i || address / DAB_SECTOR != sector) {
            bool is_new = true;
            struct found *f = coalesces ? find_sector(n, address, &is_new) : NULL;
            last = is_new ? queue[partition_of(n, address)]++ : f->is;
            if (f) f->is = last;
            transactions += is_new;
            sector = address / DAB_SECTOR;
        }
        place[e] = last;
        add_to_place(n, last, b->entries[e].count);
    }
    return transactions;
}

/* What the adversary draws while they arrive, one of an SM by chance after the other. */
static void draw(struct dab_net *n)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < n->active_count; i++) total += n->left[i];
    rng_below(n->chance, total + 1); /* when the last pre-flush message comes */
    uint64_t chance = *n->chance;
    uint32_t active = n->active_count, *const left = n->left;
    while (active > 1) {
        const uint32_t i = rng_below(&chance, active);
        if (!--left[i]) left[i] = left[--active];
    }
    *n->chance = chance;
}

/* Returns how many there are. */
static uint32_t add_elements(struct emu_reduction *to, const struct dab_buffer *b,
                             struct dab_entry *e)
{
    const uint8_t *data = dab_data(b, e);
    for (uint32_t k = 0; k < e->count; k++)
        to[k] = (struct emu_reduction){e->address + k * e->width, data + k * e->width, e->op,
                                       e->type};
    return e->count;
}

/* Where the elements of each place begin. Returns how many there are. */
static uint32_t find_firsts(struct dab_net *n)
{
    for (uint32_t p = 0; p < n->place_count; p++) n->first[p + 1] += n->first[p];
    return n->first[n->place_count];
}

/* Places in the queues one after the other, of each the SMs in turn: so partitions would do it. */
static void carry_out_in_order(struct dab_net *n)
{
    const uint32_t total = find_firsts(n);
    n->list = room(n->list, total, &n->list_cap, sizeof *n->list);
    for (uint32_t i = 0, at = 0; i < n->sent_count; at += n->sent[i++].from->count) {
        struct dab_buffer *b = n->sent[i].from;
        const uint32_t begin = first_entry(n, n->sent[i].sm, b);
        for (uint32_t k = 0; k < b->count; k++) {
            const uint32_t e = k + begin < b->count ? k + begin : k + begin - b->count;
            uint32_t *const to = &n->first[n->place[at + e]];
            *to += add_elements(n->list + *to, b, &b->entries[e]);
        }
    }
    emu_machine_reduce_all(n->m, n->list, total);
}

static void carry_out_anyhow(struct dab_net *n)
{
    for (uint32_t i = 0; i < n->sent_count; i++) {
        struct dab_buffer *b = n->sent[i].from;
        const struct dab_entry *one = b->entries;
        uint32_t total = 0;
        if (one->count == 1) { /* and of 8 bytes at most */
            emu_machine_reduce_each(n->m, one->op, one->type, &one->address, one->data, sizeof *one,
                                    b->count);
            continue;
        }
        n->list = room(n->list, b->count * one->count, &n->list_cap, sizeof *n->list);
        for (uint32_t e = 0; e < b->count; e++)
            total += add_elements(n->list + total, b, &b->entries[e]);
        emu_machine_reduce_all(n->m, n->list, total);
    }
}

static void carry_out_all(struct dab_net *n)
{
    const struct dab_entry *const one = n->sent[0].from->entries;
    const bool alike = are_alike(n), commute = alike && atomic_commutes(one->op, one->type);
    uint32_t *const queue = commute ? NULL : n->queued;
    uint32_t sm = NONE, entries = 0;
    for (uint32_t i = 0; i < n->sent_count; i++) entries += n->sent[i].from->count;
    if (queue) n->place = room(n->place, entries, &n->place_cap, sizeof *n->place);
    forget_places(n);
    for (uint32_t i = 0, at = 0; i < n->sent_count; at += n->sent[i++].from->count) {
        if (n->sent[i].sm != sm) {
            sm = n->sent[i].sm;
            n->left[n->active_count++] = 0;
            if (queue) memset(queue, 0, n->options->partitions * sizeof *queue);
        }
        n->left[n->active_count - 1] += queue ? pack(n, &n->sent[i], queue, at)
                                              : count_sectors(n, n->sent[i].from);
    }
    draw(n);
    n->active_count = 0;
    if (commute) carry_out_anyhow(n);
    else carry_out_in_order(n);
}

/* ---- by sectors: each one is a transaction, or goes with that of the one before it ---------------------- */

/* Words of one kind that are to be done. */
struct words {
    uint16_t kind;
    uint32_t count;
    void *memory[SOME]; /* on the host */
    const void *operands[SOME];
};

static void carry_out_words(struct words *s)
{
    if (s->count)
        atomic_function_each(dab_op_of(s->kind), dab_type_of(s->kind))(s->memory, s->operands,
                                                                       s->count);
    s->count = 0;
}

/* Where on the host the bytes of an address are; NULL: they are gone. */
static inline void *host_of(struct dab_net *n, struct emu_host_range *m, uint64_t address,
                            uint32_t size)
{
    const bool is_there = m->size >= size && address - m->low <= m->size - size;
    if (!is_there && !emu_machine_allocation(n->m, address, size, m)) return NULL;
    return m->host + (address - m->low);
}

static void add_words(struct dab_net *n, struct words *s, struct emu_host_range *m,
                      const struct dab_sector *r)
{
    const uint32_t size = r->is.width, bits = (1u << size / 4) - 1;
    if (s->kind != r->is.kind || s->count > SOME - DAB_SECTOR / 4) carry_out_words(s);
    s->kind = r->is.kind;
    for (uint32_t left = r->is.has, k; left; left &= ~(bits << k)) {
        k = (uint32_t)__builtin_ctz(left);
        void *const to = host_of(n, m, r->sector * DAB_SECTOR + k * 4, size);
        if (!to) continue;
        __builtin_prefetch(to, 1);
        s->memory[s->count] = to;
        s->operands[s->count++] = r->data + k * 4;
    }
}

/* In the order in which partitions would do it, into n->order. Returns how many there are. */
static uint32_t put_in_order(struct dab_net *n)
{
    uint32_t sm = NONE, total = 0;
    for (uint32_t i = 0; i < n->sent_count; i++) total += n->sent[i].from->sector_count;
    n->place = room(n->place, total, &n->place_cap, sizeof *n->place);
    n->order = room(n->order, total, &n->order_cap, sizeof *n->order);
    forget_places(n);
    for (uint32_t i = 0, at = 0; i < n->sent_count; at += n->sent[i++].from->sector_count) {
        const struct dab_buffer *const b = n->sent[i].from;
        if (n->sent[i].sm != sm) memset(n->queued, 0, n->options->partitions * sizeof *n->queued);
        sm = n->sent[i].sm;
        for (uint32_t k = 0; k < b->sector_count; k++) {
            const struct dab_sector *const r = &b->sectors[1 + k];
            n->place[at + k] = r->is.before ? n->place[at + r->is.before - 1]
                                            : n->queued[partition_of(n, r->sector * DAB_SECTOR)]++;
            add_to_place(n, n->place[at + k], 1);
        }
    }
    find_firsts(n);
    for (uint32_t i = 0, at = 0; i < n->sent_count; at += n->sent[i++].from->sector_count)
        for (uint32_t k = 0; k < n->sent[i].from->sector_count; k++)
            n->order[n->first[n->place[at + k]]++] = &n->sent[i].from->sectors[1 + k];
    return total;
}

/* Whether all are of one kind that may come in any order. */
static bool sectors_commute(const struct dab_net *n)
{
    const uint16_t kind = n->sent[0].from->kind;
    bool same = atomic_commutes(dab_op_of(kind), dab_type_of(kind));
    for (uint32_t i = 0; same && i < n->sent_count; i++)
        same = !n->sent[i].from->mixed && n->sent[i].from->kind == kind;
    return same;
}

static void carry_out_sectors(struct dab_net *n)
{
    struct emu_host_range memory = {0};
    struct words some;
    some.kind = 0;
    some.count = 0;
    if (sectors_commute(n)) {
        for (uint32_t i = 0; i < n->sent_count; i++)
            for (uint32_t k = 0; k < n->sent[i].from->sector_count; k++)
                add_words(n, &some, &memory, &n->sent[i].from->sectors[1 + k]);
    } else {
        const uint32_t count = put_in_order(n);
        for (uint32_t i = 0; i < count; i++) {
            if (i + SOON < count) __builtin_prefetch(n->order[i + SOON]);
            add_words(n, &some, &memory, n->order[i]);
        }
    }
    carry_out_words(&some);
}

void dab_net_some(struct dab_net *n)
{
    uint32_t sm;
    if (n->active_count) carry_out(n, next_packet(n, &sm));
}

void dab_net_all(struct dab_net *n)
{
    while (n->active_count) dab_net_some(n);
    forget_copies(n);
}

void dab_net_flush(struct dab_net *n)
{
    if (n->sent_count) (n->by_sector ? carry_out_sectors : carry_out_all)(n);
    n->sent_count = 0;
    if (!n->active_count) return;
    if (n->options->reorder) arrive_in_order(n);
    else {
        n->counts->messages += flush_messages(n->clusters, n->options->partitions);
        if (!n->options->overlap) dab_net_all(n);
    }
}
