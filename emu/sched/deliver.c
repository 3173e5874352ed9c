/* What becomes visible in the order of CTAs: text, reductions whose order matters, the way through the
 * caches. A CTA that runs ahead of its turn leaves it in an outbox. */
#define _GNU_SOURCE
#include "emu/sched/launch_context.h"

#include "base/buf.h"
#include "emu/atomic.h"
#include "emu/measure/cache.h"
#include "emu/speculate/conflict_free.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_WAITING = 1 << 26, MOST_NOTES = 1 << 22 };

static void grow(struct emu_workplace *wp, struct emu_outbox *o, size_t bytes)
{
    o->bytes += bytes;
    atomic_fetch_add(&wp->waiting, bytes);
}

static void free_list(struct emu_outbox *o)
{
    for (struct emu_outbox *next; o; o = next) {
        next = o->next;
        free(o->reds);
        free(o->port.notes);
        buf_free(&o->text);
        free(o);
    }
}

void deliver_end(struct emu_workplace *wp)
{
    for (u32 row = 0; row < OUTBOX_ROWS; row++) free_list(wp->outboxes[row].first);
    free_list(wp->spare_outboxes);
}

static struct emu_outbox *outbox_of(struct emu_workplace *wp, struct emu_cta *c)
{
    if (c->outbox) return c->outbox;
    struct outbox_row *row = &wp->outboxes[c->linear % OUTBOX_ROWS];
    pthread_mutex_lock(&wp->lock);
    struct emu_outbox *o = wp->spare_outboxes;
    if (o) wp->spare_outboxes = o->next;
    else o = calloc(1, sizeof *o);
    if (!o) abort();
    o->cta = c->linear;
    struct emu_outbox **at = row->first && row->last->cta < o->cta ? &row->last->next : &row->first;
    while (*at && (*at)->cta < o->cta) at = &(*at)->next;
    o->next = *at;
    *at = o;
    if (!o->next) row->last = o;
    atomic_fetch_add(&wp->outbox_count, 1);
    pthread_mutex_unlock(&wp->lock);
    return c->outbox = o;
}

/* Room for its notes is kept for another one. */
static void put_back(struct emu_workplace *wp, struct emu_outbox *o)
{
    atomic_fetch_sub(&wp->waiting, o->bytes);
    o->bytes = 0;
    pthread_mutex_lock(&wp->lock);
    o->next = wp->spare_outboxes;
    wp->spare_outboxes = o;
    pthread_mutex_unlock(&wp->lock);
}

static void put_text(struct emu_workplace *wp, const char *text, size_t n)
{
    if (wp->config->print) wp->config->print(wp->config->print_self, text, n);
    else fwrite(text, 1, n, stdout);
}

static void pour_out(struct emu_workplace *wp, struct emu_outbox *o)
{
    if (!o->bytes) return;
    for (size_t i = 0; i < o->red_count; i++) {
        const struct red *r = &o->reds[i];
        atomic_apply_packed(r->op, r->type, mem_bytes(wp->m->mem, r->address), r->operand);
    }
    if (o->text.size) put_text(wp, o->text.data, o->text.size);
    o->text.size = 0;
    free(o->reds);
    o->reds = NULL;
    o->red_count = o->red_cap = 0;
    atomic_fetch_sub(&wp->waiting, o->bytes);
    o->bytes = 0;
}

/* It is the turn of the first CTA that has not ended, and where things are done at once of each. What has waited for it comes
 * before what is to be done now. */
static bool its_turn(struct emu_workplace *wp, const struct emu_cta *c)
{
    if (wp->at_once) return true;
    if (atomic_load(&wp->deliver) != c->linear) return false;
    if (c->outbox) pour_out(wp, c->outbox);
    return true;
}

bool emu_defer_red(struct emu_group *g, const struct emu_uop *in, u64 address, u8 op, u8 type,
                   const void *operand)
{
    (void)in;
    struct emu_workplace *wp = hand_of(g)->wp;
    if (its_turn(wp, g->cta)) return false;
    struct emu_outbox *o = outbox_of(wp, g->cta);
    if (o->red_count == o->red_cap) {
        const size_t more = o->red_cap ? o->red_cap : 256;
        o->red_cap += more;
        grow(wp, o, more * sizeof *o->reds);
        if (atomic_load(&wp->waiting) > MOST_WAITING) g->budget = 0; /* see deliver_wait */
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
    struct emu_workplace *wp = hand_of(g)->wp;
    if (its_turn(wp, g->cta)) put_text(wp, text, length);
    else {
        struct emu_outbox *o = outbox_of(wp, g->cta);
        buf_add(&o->text, text, length);
        grow(wp, o, length);
    }
}

static bool has_ended(const struct emu_workplace *wp, u32 cta)
{
    return cta < wp->m->cta_count && atomic_load(&wp->ended[cta / 64]) >> cta % 64 & 1;
}

static struct emu_outbox *take_outbox(struct emu_workplace *wp, u32 cta)
{
    if (!atomic_load(&wp->outbox_count)) return NULL;
    pthread_mutex_lock(&wp->lock);
    struct outbox_row *row = &wp->outboxes[cta % OUTBOX_ROWS];
    struct emu_outbox *o = row->first;
    if (o && o->cta == cta) {
        row->first = o->next;
        atomic_fetch_sub(&wp->outbox_count, 1);
    } else o = NULL;
    pthread_mutex_unlock(&wp->lock);
    return o;
}

/* A CTA has ended: delivers what may be. If another hand is about that, it looks again when it is through. */
void deliver_ended(struct emu_workplace *wp, struct slot *p)
{
    const u32 cta = p->cta.linear;
    if (p->port.now) cache_settle(&p->port);
    if (p->port.count) {
        struct emu_outbox *o = outbox_of(wp, &p->cta);
        const struct cache_port spare = {.notes = o->port.notes, .cap = o->port.cap};
        o->port = p->port;
        p->port = spare;
        grow(wp, o, o->port.cap * sizeof *o->port.notes);
    }
    atomic_fetch_or(&wp->ended[cta / 64], (u64)1 << cta % 64);
    while (has_ended(wp, atomic_load(&wp->deliver))) {
        if (pthread_mutex_trylock(&wp->turn) != 0) break;
        for (u32 at = atomic_load(&wp->deliver); has_ended(wp, at); at++) {
            struct emu_outbox *o = take_outbox(wp, at);
            if (o) {
                pour_out(wp, o);
                cache_settle(&o->port);
                put_back(wp, o);
            }
            atomic_store(&wp->deliver, at + 1);
        }
        pthread_mutex_unlock(&wp->turn);
    }
    if (wp->m->apart) apart_ended(wp->m->apart, atomic_load(&wp->deliver));
}

/* Whether all CTAs before have gone through the caches. */
static bool caches_are_free(struct emu_workplace *wp, const struct emu_cta *c)
{
    return wp->at_once || c->linear == atomic_load(&wp->deliver);
}

/* What the CTA does from now on is counted where it belongs. */
void deliver_count_for(struct hand *h, struct slot *p)
{
    const struct emu_machine *m = h->wp->m;
    const u32 sm = p->cta.sm;
    if (!h->wp->config->count) return;
    if (!h->sites[sm]) {
        h->sites[sm] = calloc(m->program->site_count, sizeof **h->sites);
        h->blocks[sm] = calloc(m->program->block_count, sizeof **h->blocks);
        if (!h->sites[sm] || !h->blocks[sm]) abort();
    }
    h->worker.sites = h->sites[sm];
    h->worker.blocks = h->blocks[sm];
    h->worker.trace = p->trace;
    h->worker.turns = p->turns_of.cta ? &p->turns_of : NULL;
    if (!m->caches) return;
    struct cache_port *before = h->worker.port;
    if (before && before->now) cache_settle(before);
    p->port.caches = m->caches;
    p->port.sm = sm;
    p->port.trace = p->trace;
    p->port.now = caches_are_free(h->wp, &p->cta);
    if (p->port.now) cache_settle(&p->port);
    h->worker.port = &p->port;
}

/* What waits takes memory. Only of CTAs that do not depend on each other: of a cluster, one that waited
 * might be what the turn depends on. */
bool deliver_is_full(struct emu_workplace *wp)
{
    return wp->m->cluster_size == 1 && atomic_load(&wp->waiting) > MOST_WAITING;
}

/* A hand that waits is stuck, in deadlock_proved's sense: what its CTAs
 * would do nobody may need. */
void deliver_wait(struct hand *h, const struct slot *p)
{
    struct emu_workplace *wp = h->wp;
    if (wp->hand_count == 1 || wp->m->cluster_size > 1) return;
    bool waited = false;
    while ((p->port.count > MOST_NOTES || deliver_is_full(wp)) &&
           h->resident->cta.linear != atomic_load(&wp->deliver) && !atomic_load(&wp->give_up) &&
           p->cta.linear <= atomic_load(&wp->stop_at)) {
        if (!waited) atomic_fetch_add(&wp->epoch, 1);
        waited = true;
        atomic_store(&h->stuck, atomic_load(&wp->epoch));
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    if (!waited) return;
    atomic_store(&h->stuck, 0);
    atomic_fetch_add(&wp->epoch, 1);
}
