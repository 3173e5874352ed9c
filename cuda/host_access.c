/* Protects pages of memory that the host shares with the device (cuda/host_access.h). */
#define _GNU_SOURCE /* REG_ERR, backtrace */
#include "cuda/host_access.h"

#include "cuda/driver.h"

#include <execinfo.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    MOST_PAGES = 4096, /* of an operation, and in all */
    TABLE = 4 * MOST_PAGES,
    MOST_ACCESSES = 64,
    MOST_LATE = 1024, /* faults of a page after its protection, by threads that came before */
    FRAMES = 24
};

struct host_page {
    uint64_t address; /* of the device's memory, of the page's first byte */
    bool written;
};
struct host_pages {
    struct host_page *list;
    size_t count, capacity;
    bool strong;
};

/* ---- the pages of an operation -------------------------------------------------------------------------- */

/* Where the host has a byte of device memory that it shares; NULL: it does not. */
static char *host_of(uint64_t address, const struct allocation **in)
{
    const struct allocation *a = *in = allocation_find(address);
    if (!a || !a->host) return NULL;
    return (char *)a->host + (address - a->address);
}

/* Whole pages of the host, of which no other memory has a part. */
static bool is_whole(const struct allocation *a, const char *host)
{
    const char *const from = a->host;
    if (a->kind != ALLOCATION_REGISTERED) return true;
    return host >= from && host + PAGE <= from + a->size;
}

static void add_page(void *self, uint64_t address, uint64_t size, enum touched_how how)
{
    struct host_pages *p = self;
    const struct allocation *a;
    for (uint64_t at = address, n; at < address + size; at += n) {
        const char *host = host_of(at, &a);
        n = PAGE - (uintptr_t)(host ? host : (const char *)(uintptr_t)at) % PAGE;
        if (!host) continue;
        p->strong |= how == TOUCHED_STRONG_READ || how == TOUCHED_ATOMIC;
        const uint64_t first = at - (uintptr_t)host % PAGE;
        if (!is_whole(a, host - (uintptr_t)host % PAGE)) continue;
        size_t i = 0;
        while (i < p->count && p->list[i].address != first) i++;
        if (i == MOST_PAGES) continue;
        if (i == p->capacity) {
            p->capacity = p->capacity ? 2 * p->capacity : 16;
            p->list = realloc(p->list, p->capacity * sizeof *p->list);
            if (!p->list) abort();
        }
        if (i == p->count) p->list[p->count++] = (struct host_page){.address = first};
        p->list[i].written |= how == TOUCHED_WRITE;
    }
}

struct host_pages *host_pages_new(const struct touched *t)
{
    struct host_pages *p = calloc(1, sizeof *p);
    if (!p) abort();
    touched_each(t, add_page, p);
    if (p->count && !p->strong) return p;
    host_pages_free(p);
    return NULL;
}

void host_pages_free(struct host_pages *p)
{
    if (p) free(p->list);
    free(p);
}

/* ---- protected pages ------------------------------------------------------------------------------------ */

struct guarded {
    char *host;
    uint64_t address;
    const void *of;
    bool on, written;
    bool lent;     /* to a system call that goes on: not protected meanwhile */
    unsigned late; /* faults since it is no longer protected */
};
struct seen { /* an access, as the handler notes it */
    uint64_t address, size;
    const void *of;
    bool writes;
    void *frames[FRAMES];
    int frame_count;
};

/* Of a process: the handler has no other way to reach it. Guarded by `lock`, which nobody holds while he accesses
 * memory that may be protected. */
static struct {
    atomic_flag lock;
    sigset_t mask;               /* of who holds the lock, before */
    struct guarded table[TABLE]; /* by address of the host, with holes (host NULL) */
    uint32_t used[MOST_PAGES];   /* its places with pages */
    size_t count;
    atomic_bool any; /* some may be protected: read without the lock */
    bool over;       /* these are no longer protected; the next one to be empties the table */
    struct seen seen[MOST_ACCESSES];
    size_t seen_count;
    struct sigaction before; /* the handler that the program had */
} state = {.lock = ATOMIC_FLAG_INIT};

/* A handler of signals may make system calls, which take the lock. */
static void lock(void)
{
    sigset_t most, before;
    sigfillset(&most);
    sigdelset(&most, SIGSEGV);
    (void)pthread_sigmask(SIG_BLOCK, &most, &before);
    while (atomic_flag_test_and_set_explicit(&state.lock, memory_order_acquire)) sched_yield();
    state.mask = before;
}

static void unlock(void)
{
    const sigset_t before = state.mask;
    atomic_flag_clear_explicit(&state.lock, memory_order_release);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool is_write(const void *context)
{
#if defined __x86_64__
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] &
           2; /* bit 1 of the page fault's error code */
#else
    (void)context;
    return false;
#endif
}

/* The stack from the instruction on that faulted. Return addresses are behind a call, so the first is one more. */
static int stack_of(const void *context, void **frames)
{
    void *all[FRAMES + 4];
    const int n = backtrace(all, FRAMES + 4);
    int first = 2; /* this function, the handler */
#if defined __x86_64__
    const greg_t at = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    for (int i = 0; i < n; i++)
        if ((uintptr_t)all[i] == (uintptr_t)at) {
            first = i;
            all[i] = (char *)all[i] + 1;
            break;
        }
#else
    (void)context;
#endif
    const int count = n - first < FRAMES ? n - first : FRAMES;
    if (count > 0) memcpy((void *)frames, (void *)&all[first], (size_t)count * sizeof *frames);
    return count > 0 ? count : 0;
}

/* The place of a page, or a hole: the table is never full. */
static struct guarded *find(const char *page)
{
    size_t i = (uintptr_t)page / PAGE % TABLE;
    while (state.table[i].host && state.table[i].host != page) i = (i + 1) % TABLE;
    return &state.table[i];
}

static void empty_table(void)
{
    for (size_t i = 0; i < state.count; i++)
        state.table[state.used[i]] = (struct guarded){.on = false};
    state.count = 0;
    state.over = false;
}

/* Whether the fault is of a page that is, or just was, protected. A page that goes on faulting is not there any more. */
static bool note(const char *at, const void *context)
{
    lock();
    struct guarded *g = find(at - (uintptr_t)at % PAGE);
    const bool known = g->host && (g->on || g->late++ < MOST_LATE);
    if (g->on) {
        g->on = false;
        (void)mprotect(g->host, PAGE, PROT_READ | PROT_WRITE);
        if (state.seen_count < MOST_ACCESSES && !driver_is_host_function()) {
            struct seen *s = &state.seen[state.seen_count++];
            *s = (struct seen){.address = g->address + (uint64_t)(at - g->host),
                               .size = 1,
                               .of = g->of,
                               .writes = is_write(context) || !g->written};
            s->frame_count = stack_of(context, s->frames);
        }
    }
    unlock();
    return known;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (info->si_code > 0 && note(info->si_addr, context)) return;
    const struct sigaction *before = &state.before;
    if (before->sa_flags & SA_SIGINFO) before->sa_sigaction(signal, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(signal);
    else (void)sigaction(signal, before, NULL); /* and the instruction faults again */
}

/* The program may have set one of its own since. */
static void install(void)
{
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now) != 0) return;
    if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault) return;
    state.before = now;
    struct sigaction ours = {.sa_sigaction = on_fault,
                             .sa_flags = SA_SIGINFO | (now.sa_flags & SA_ONSTACK)};
    sigemptyset(&ours.sa_mask);
    (void)sigaction(SIGSEGV, &ours, NULL);
}

static void guard_page(const struct host_page *p, const void *of)
{
    const struct allocation *in;
    char *host = host_of(p->address, &in);
    if (!host || (uintptr_t)host % PAGE) return; /* it was released */
    struct guarded *g = find(host);
    if (!g->host) {
        if (state.count == MOST_PAGES) return;
        state.used[state.count++] = (uint32_t)(g - state.table);
    }
    if (g->on && (g->written || !p->written)) return; /* an operation that wants more has it */
    *g = (struct guarded){host, p->address, of, true, p->written, false, 0};
    atomic_store(&state.any, true);
    (void)mprotect(host, PAGE, p->written ? PROT_NONE : PROT_READ);
}

void host_access_guard(const struct host_pages *p, const void *of)
{
    if (!p || sysconf(_SC_PAGESIZE) != PAGE) return;
    lock();
    install();
    if (state.over) empty_table();
    for (size_t i = 0; i < p->count; i++) guard_page(&p->list[i], of);
    unlock();
}

void host_access_release(void (*say)(const struct host_access *))
{
    if (!state.count || state.over) return;
    static struct seen seen[MOST_ACCESSES]; /* the driver's lock guards it */
    lock();
    for (size_t i = 0; i < state.count; i++) {
        struct guarded *g = &state.table[state.used[i]];
        if (g->on) (void)mprotect(g->host, PAGE, PROT_READ | PROT_WRITE);
        g->on = g->lent = false;
    }
    atomic_store(&state.any, false);
    state.over = true;
    const size_t n = state.seen_count;
    memcpy(seen, state.seen, n * sizeof *seen);
    state.seen_count = 0;
    unlock();
    for (size_t i = 0; i < n; i++)
        say(&(struct host_access){seen[i].of, seen[i].address, seen[i].size, seen[i].writes,
                                  seen[i].frames, seen[i].frame_count});
}

/* ---- system calls --------------------------------------------------------------------------------------- */

/* Of a part; pages behind that are not looked at. */
enum { MOST_BYTES = 1 << 30 };

static size_t size_of(const struct iovec *part)
{
    return part->iov_len < MOST_BYTES ? part->iov_len : MOST_BYTES;
}

#define EACH_PAGE(page, part)                                                                      \
    for (char *(page) = (char *)(part)->iov_base - (uintptr_t)(part)->iov_base % PAGE;             \
         (page) < (char *)(part)->iov_base + size_of(part); (page) += PAGE)

bool host_access_call_begin(const struct iovec *parts, size_t count, bool fills)
{
    bool lent = false;
    if (!atomic_load(&state.any)) return false;
    for (size_t i = 0; i < count;
         i++) /* a list in a protected page faults here, without the lock */
        (void)*(const volatile size_t *)&parts[i].iov_len;
    lock();
    for (size_t i = 0; i < count; i++) EACH_PAGE(page, &parts[i])
        {
            struct guarded *g = find(page);
            if (!g->on || !(fills || g->written)) continue; /* it may be read */
            (void)mprotect(g->host, PAGE, PROT_READ | PROT_WRITE);
            g->on = false;
            lent = g->lent = true;
        }
    unlock();
    return lent;
}

/* The stack from the program's call on. */
static int stack_from(const void *called_from, void **frames)
{
    void *all[FRAMES + 4];
    const int n = backtrace(all, FRAMES + 4);
    int first = 0;
    while (first < n && all[first] != called_from) first++;
    const int count = n - first < FRAMES ? n - first : FRAMES;
    memcpy((void *)frames, (void *)&all[first], (size_t)count * sizeof *frames);
    return count;
}

/* Bytes of a page that was lent. Those behind others of the same operation are one access with them. */
static void note_used(const struct guarded *g, const char *from, const char *to, bool fills,
                      struct seen **last, const void *called_from)
{
    const uint64_t address = g->address + (uint64_t)(from - g->host), size = (uint64_t)(to - from);
    struct seen *s = *last;
    if (s && s->of == g->of && s->address + s->size == address) {
        s->size += size;
        return;
    }
    if (state.seen_count == MOST_ACCESSES || driver_is_host_function()) return;
    s = *last = &state.seen[state.seen_count++];
    *s = (struct seen){.address = address, .size = size, .of = g->of, .writes = fills};
    s->frame_count = stack_from(called_from, s->frames);
}

void host_access_call_end(const struct iovec *parts, size_t count, size_t used, bool fills,
                          const void *called_from)
{
    struct seen *last = NULL;
    lock();
    for (size_t i = 0; i < count; i++) {
        const char *const from = parts[i].iov_base;
        const size_t n = used < parts[i].iov_len ? used : parts[i].iov_len;
        used -= n;
        EACH_PAGE(page, &parts[i])
        {
            struct guarded *g = find(page);
            const char *first = page < from ? from : page,
                       *end = page + PAGE < from + n ? page + PAGE : from + n;
            if (!g->lent) continue;
            g->lent = false;
            if (first < end) {
                note_used(g, first, end, fills, &last, called_from);
            } else {
                g->on = true;
                (void)mprotect(g->host, PAGE, g->written ? PROT_NONE : PROT_READ);
            }
        }
    }
    unlock();
}
