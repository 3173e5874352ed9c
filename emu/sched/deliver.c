/* Output that becomes visible in the order of CTAs: text, reductions whose order matters, requests to the caches. A CTA
 * that runs before its turn leaves its output in an outbox.
 *
 * The next CTA to deliver follows from the set of ended CTAs, ctx->ended, to which all host threads add. While no
 * output waits for a turn (ctx->in_turn is false) a host thread updates the set only once for each word, since other
 * host threads write to the same word or cache line; the next CTA is then not determined. */
#define _GNU_SOURCE
#include "emu/sched/launch_context.h"

#include "base/buf.h"
#include "emu/atomic.h"
#include "emu/measure/cache.h"
#include "emu/speculate/speculation.h"
#include "emu/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_WAITING = 1 << 26, MOST_NOTES = 1 << 22 };

static void grow(struct launch_context *ctx, struct emu_outbox *o, size_t bytes)
{
    o->bytes += bytes;
    atomic_fetch_add(&ctx->waiting, bytes);
}

static void free_list(struct emu_outbox *o)
{
    for (struct emu_outbox *next; o; o = next) {
        next = o->next;
        free(o->reds);
        free(o->port.requests);
        buf_free(&o->text);
        free(o);
    }
}

void deliver_end(struct launch_context *ctx)
{
    free_list(ctx->spare_outboxes);
    if (!atomic_load(&ctx->outbox_count))
        return; /* a small launch notices that there are many rows */
    for (u32 row = 0; row < OUTBOX_ROWS; row++) free_list(ctx->outboxes[row].first);
}

static struct emu_outbox *outbox_of(struct launch_context *ctx, struct emu_cta *c)
{
    if (c->outbox) return c->outbox;
    struct outbox_row *row = &ctx->outboxes[c->linear % OUTBOX_ROWS];
    pthread_mutex_lock(&ctx->lock);
    struct emu_outbox *o = ctx->spare_outboxes;
    if (o) ctx->spare_outboxes = o->next;
    else o = calloc(1, sizeof *o);
    if (!o) abort();
    o->cta = c->linear;
    struct emu_outbox **at = row->first && row->last->cta < o->cta ? &row->last->next : &row->first;
    while (*at && (*at)->cta < o->cta) at = &(*at)->next;
    o->next = *at;
    *at = o;
    if (!o->next) row->last = o;
    atomic_fetch_add(&ctx->outbox_count, 1);
    pthread_mutex_unlock(&ctx->lock);
    return c->outbox = o;
}

/* The memory of its notes is kept for another one. */
static void put_back(struct launch_context *ctx, struct emu_outbox *o)
{
    atomic_fetch_sub(&ctx->waiting, o->bytes);
    o->bytes = 0;
    pthread_mutex_lock(&ctx->lock);
    o->next = ctx->spare_outboxes;
    ctx->spare_outboxes = o;
    pthread_mutex_unlock(&ctx->lock);
}

static void put_text(struct launch_context *ctx, const char *text, size_t n)
{
    if (ctx->config->print) ctx->config->print(ctx->config->print_self, text, n);
    else fwrite(text, 1, n, stdout);
}

static void pour_out(struct launch_context *ctx, struct emu_outbox *o)
{
    if (!o->bytes) return;
    for (size_t i = 0; i < o->red_count; i++) {
        const struct red *r = &o->reds[i];
        atomic_apply_packed(r->op, r->type, mem_bytes(ctx->m->mem, r->address), r->operand);
    }
    if (o->text.size) put_text(ctx, o->text.data, o->text.size);
    o->text.size = 0;
    free(o->reds);
    o->reds = NULL;
    o->red_count = o->red_cap = 0;
    atomic_fetch_sub(&ctx->waiting, o->bytes);
    o->bytes = 0;
}

static bool has_ended(const struct launch_context *ctx, u32 cta)
{
    return cta < ctx->m->cta_count && atomic_load(&ctx->ended[cta / 64]) >> cta % 64 & 1;
}

static struct emu_outbox *take_outbox(struct launch_context *ctx, u32 cta)
{
    if (!atomic_load(&ctx->outbox_count)) return NULL;
    pthread_mutex_lock(&ctx->lock);
    struct outbox_row *row = &ctx->outboxes[cta % OUTBOX_ROWS];
    struct emu_outbox *o = row->first;
    if (o && o->cta == cta) {
        row->first = o->next;
        atomic_fetch_sub(&ctx->outbox_count, 1);
    } else o = NULL;
    pthread_mutex_unlock(&ctx->lock);
    return o;
}

/* Moves the turn on as far as CTAs have ended. If another hand is about that, it looks again when it is through. */
static void deliver_what_may_be(struct launch_context *ctx)
{
    while (has_ended(ctx, atomic_load(&ctx->deliver))) {
        if (pthread_mutex_trylock(&ctx->turn) != 0) break;
        for (u32 at = atomic_load(&ctx->deliver); has_ended(ctx, at); at++) {
            struct emu_outbox *o = take_outbox(ctx, at);
            if (o) {
                pour_out(ctx, o);
                cache_resolve(&o->port);
                if (o->port.trace) trace_late_ended(ctx->m->trace, o->port.trace);
                o->port.trace = NULL;
                put_back(ctx, o);
            }
            atomic_store(&ctx->deliver, at + 1);
        }
        pthread_mutex_unlock(&ctx->turn);
    }
}

/* Whoever sets in_turn looks at `ended` afterwards, and who publishes CTAs looks at in_turn afterwards: one of them sees
 * what the other did. */
void deliver_publish_ended(struct host_worker *h)
{
    struct launch_context *ctx = h->ctx;
    if (h->ended_bits) atomic_fetch_or(&ctx->ended[h->ended_word], h->ended_bits);
    h->ended_bits = 0;
    if (atomic_load(&ctx->in_turn)) deliver_what_may_be(ctx);
}

/* It is the turn of the first CTA that has not ended, and where things are done at once of each. What has waited for it comes
 * before what is to be done now. */
static bool its_turn(struct host_worker *h, const struct emu_cta *c)
{
    struct launch_context *ctx = h->ctx;
    if (ctx->at_once) return true;
    if (!atomic_load(&ctx->in_turn)) {
        atomic_store(&ctx->in_turn, true);
        deliver_publish_ended(h);
    }
    if (atomic_load(&ctx->deliver) != c->linear) return false;
    if (c->outbox) pour_out(ctx, c->outbox);
    return true;
}

bool emu_defer_red(struct emu_group *g, const struct emu_uop *in, u64 address, u8 op, u8 type,
                   const void *operand)
{
    (void)in;
    struct launch_context *ctx = host_worker_of(g)->ctx;
    if (its_turn(host_worker_of(g), g->cta)) return false;
    struct emu_outbox *o = outbox_of(ctx, g->cta);
    if (o->red_count == o->red_cap) {
        const size_t more = o->red_cap ? o->red_cap : 256;
        o->red_cap += more;
        grow(ctx, o, more * sizeof *o->reds);
        if (atomic_load(&ctx->waiting) > MOST_WAITING) g->budget = 0; /* see deliver_wait */
        o->reds = realloc(o->reds, o->red_cap * sizeof *o->reds);
        if (!o->reds) abort();
    }
    struct red *r = &o->reds[o->red_count++];
    r->address = address;
    r->op = op;
    r->type = type;
    memcpy(r->operand, operand, atomic_packed_bytes(op, type));
    return true;
}

void emu_print(struct emu_group *g, const char *text, size_t length)
{
    struct launch_context *ctx = host_worker_of(g)->ctx;
    if (its_turn(host_worker_of(g), g->cta)) put_text(ctx, text, length);
    else {
        struct emu_outbox *o = outbox_of(ctx, g->cta);
        buf_add(&o->text, text, length);
        grow(ctx, o, length);
    }
}

/* A CTA has ended: delivers what may be. */
void deliver_ended(struct host_worker *h, struct slot *p)
{
    struct launch_context *ctx = h->ctx;
    const u32 cta = p->cta.linear;
    if (p->port.now) cache_resolve(&p->port);
    if (p->port.count) {
        struct emu_outbox *o = outbox_of(ctx, &p->cta);
        const struct cache_port spare = {.requests = o->port.requests, .cap = o->port.cap};
        o->port = p->port;
        o->port.trace = p->trace;
        p->port = spare;
        grow(ctx, o, o->port.cap * sizeof *o->port.requests);
    } else if (p->trace) trace_late_ended(ctx->m->trace, p->trace);
    p->trace = p->port.trace = NULL;
    if (cta / 64 != h->ended_word) deliver_publish_ended(h);
    h->ended_word = cta / 64;
    h->ended_bits |= (u64)1 << cta % 64;
    if (!atomic_load(&ctx->in_turn)) return;
    deliver_publish_ended(h);
    const struct speculation *const spec = ctx->m->speculation;
    if (spec && spec->ctas_ended)
        spec->ctas_ended(p->cta.groups->worker, atomic_load(&ctx->deliver));
}

/* Whether all CTAs before have gone through the caches. */
static bool caches_are_free(struct launch_context *ctx, const struct emu_cta *c)
{
    return ctx->at_once || c->linear == atomic_load(&ctx->deliver);
}

/* Zeros in lines of the host's caches that no other host thread writes to. */
static void *counters_new(size_t size)
{
    const size_t whole = size / LINE_PAIR * LINE_PAIR + LINE_PAIR;
    void *p = aligned_alloc(LINE_PAIR, whole);
    if (!p) abort();
    return memset(p, 0, whole);
}

/* What the CTA does from now on is counted where it belongs. */
void deliver_count_for(struct host_worker *h, struct slot *p)
{
    const struct emu_machine *m = h->ctx->m;
    const u32 sm = p->cta.sm;
    if (!h->ctx->config->count) return;
    if (!h->sites[sm]) {
        h->sites[sm] = counters_new(m->program->site_count * sizeof **h->sites);
        h->blocks[sm] = counters_new(m->program->block_count * sizeof **h->blocks);
    }
    h->worker.sites = h->sites[sm];
    h->worker.blocks = h->blocks[sm];
    h->worker.trace = p->trace;
    h->worker.turns = p->turns_of.cta ? &p->turns_of : NULL;
    if (!m->caches) return;
    struct cache_port *before = h->worker.port;
    if (before && before->now) cache_resolve(before);
    p->port.caches = m->caches;
    p->port.sm = sm;
    p->port.trace = p->trace;
    p->port.now = caches_are_free(h->ctx, &p->cta);
    if (p->port.now) cache_resolve(&p->port);
    h->worker.port = &p->port;
}

/* What waits takes memory. Only of CTAs that do not depend on each other: of a cluster, one that waited
 * might be what the turn depends on. */
bool deliver_is_full(struct launch_context *ctx)
{
    return ctx->m->cluster_size == 1 && atomic_load(&ctx->waiting) > MOST_WAITING;
}

/* A hand that waits is stuck, in deadlock_proved's sense: what its CTAs
 * would do nobody may need. */
void deliver_wait(struct host_worker *h, const struct slot *p)
{
    struct launch_context *ctx = h->ctx;
    if (ctx->worker_count == 1 || ctx->m->cluster_size > 1) return;
    bool waited = false;
    while ((p->port.count > MOST_NOTES || deliver_is_full(ctx)) &&
           h->resident->cta.linear != atomic_load(&ctx->deliver) && !atomic_load(&ctx->give_up) &&
           p->cta.linear <= atomic_load(&ctx->stop_at)) {
        if (!waited) atomic_fetch_add(&ctx->epoch, 1);
        if (!waited) deliver_publish_ended(h);
        waited = true;
        atomic_store(&h->stuck, atomic_load(&ctx->epoch));
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    if (!waited) return;
    atomic_store(&h->stuck, 0);
    atomic_fetch_add(&ctx->epoch, 1);
}
