/* Global memory: a reserved range of host addresses, and a tree of the live blocks in it.
 *
 * The tree is a treap ordered by address. A node has the number of free bytes before its block, and the largest such
 * number in its subtree, so that the first gap that fits is found in one descent. Free bytes are counted from addresses
 * aligned to MEM_ALIGN; a block with a larger alignment takes the first gap that is large enough at any aligned
 * address. After the last block the first fitting address is taken.
 *
 * Host pages are made accessible up to the highest address that blocks ever had, in steps: one range with a moving
 * boundary instead of a range for each block, since a host limits the number of ranges.
 *
 * A block shared with the host has a device address like any other, but its bytes are in pages of its own, which the
 * host maps at the device's address. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE, madvise */
#include "emu/unwritten.h"

#include "base/buf.h"
#include "base/rng.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    RELEASED_KEPT = 4096,     /* released blocks that reports know of */
    DENSE = 2 << 20,          /* behind so many bytes the host may give 2 MiB at once */
    OPEN_STEP = 1 << 20,      /* pages are opened in steps of so many bytes */
    SMALL_RELEASE = 64 << 10, /* a block up to this size is cleared, a larger one given back */
    ADOPTED_ALIGN = 4096,     /* modulo this, an adopted block's address is the host's */
    ABOVE_HEAP = 0x60000000,  /* from MEM_GLOBAL: behind the heap of a program at fixed addresses */
};

struct node {
    struct mem_block block;
    uint64_t gap;      /* bytes before the block that a block aligned to MEM_ALIGN may take */
    uint64_t most;     /* the largest gap below and here */
    uint64_t used;     /* bytes of blocks below and here */
    size_t count;      /* nodes below and here */
    uint64_t priority; /* a parent's is not lower */
    struct node *left, *right;
};

struct mem {
    uint8_t *base;
    uint64_t first; /* offset from MEM_GLOBAL of the first address of memory, 0 or ABOVE_HEAP */
    uint64_t size;  /* bytes of device memory */
    uint64_t
        space; /* bytes of addresses: what is behind first + size is for those that are reserved */
    uint64_t reserved; /* bytes of the host range: more than size, the rest is never opened */
    uint64_t opened;   /* bytes of the host range that may be accessed */
    struct node *root;
    uint32_t serial;
    struct mem_block *released; /* ring of the last ones */
    size_t released_count;      /* ever; the last is at (released_count - 1) % RELEASED_KEPT */
    uint64_t changed_access;    /* calls of mem_set_guest_access that changed something */
    uint8_t *written;           /* NULL: not tracked */
    uint8_t *pattern;           /* of memory that nothing wrote; NULL: it begins as zeros */
    uint64_t seed;              /* of `pattern` */
    bool marks;                 /* with it mem_mark_lanes marks */
    bool never_reuses_addresses;
    uint64_t high;    /* where the blocks that there ever were end */
    bool unified;     /* the host's addresses from MEM_GLOBAL + first on are kept free */
    size_t elsewhere; /* live blocks that are not the device's own */
};

static uint64_t align_up(uint64_t v, uint64_t align)
{
    return (v + align - 1) & ~(align - 1);
}

static _Noreturn void give_up(const char *what, uint64_t bytes)
{
    fprintf(stderr, "heddle: cannot %s (%llu bytes)\n", what, (unsigned long long)bytes);
    abort();
}

static uint8_t *reserve(uint64_t bytes, int protection)
{
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) give_up("reserve device memory", bytes);
    return p;
}

/* ---- the tree ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    return rng_mix(x + RNG_STEP);
}

static uint64_t end_of(const struct node *n)
{
    return n->block.address + n->block.size;
}

/* Sums up what is below. */
static void pull(struct node *n)
{
    n->count = 1;
    n->used = n->block.kind == MEM_RESERVED ? 0 : n->block.size;
    n->most = n->gap;
    const struct node *below[] = {n->left, n->right};
    for (int i = 0; i < 2; i++) {
        if (!below[i]) continue;
        n->count += below[i]->count;
        n->used += below[i]->used;
        if (below[i]->most > n->most) n->most = below[i]->most;
    }
}

static struct node *merge(struct node *a, struct node *b)
{
    if (!a || !b) return a ? a : b;
    if (a->priority >= b->priority) {
        a->right = merge(a->right, b);
        pull(a);
        return a;
    }
    b->left = merge(a, b->left);
    pull(b);
    return b;
}

/* Blocks below an address and the others. */
static void split(struct node *n, uint64_t address, struct node **low, struct node **high)
{
    if (!n) {
        *low = *high = NULL;
    } else if (n->block.address < address) {
        split(n->right, address, &n->right, high);
        pull(n);
        *low = n;
    } else {
        split(n->left, address, low, &n->left);
        pull(n);
        *high = n;
    }
}

static struct node *last(struct node *n)
{
    while (n && n->right) n = n->right;
    return n;
}

/* The last block that begins at or below the address; NULL: none. */
static struct node *floor_of(struct node *n, uint64_t address)
{
    struct node *best = NULL;
    while (n) {
        if (n->block.address <= address) {
            best = n;
            n = n->right;
        } else {
            n = n->left;
        }
    }
    return best;
}

/* Where the gap behind a block begins; NULL: the first gap. */
static uint64_t gap_from(const struct mem *m, const struct node *before)
{
    return before ? align_up(end_of(before) + MEM_GAP, MEM_ALIGN) : mem_first(m);
}

/* Sets the gap of the first block of `n`, when `before` comes before it. */
static void set_first_gap(const struct mem *m, struct node *n, const struct node *before)
{
    if (n->left) {
        set_first_gap(m, n->left, before);
    } else {
        uint64_t from = gap_from(m, before) + MEM_GAP;
        n->gap = n->block.address > from ? n->block.address - from : 0;
    }
    pull(n);
}

/* The first block with so many free bytes before it. */
static const struct node *first_gap(const struct node *n, uint64_t need)
{
    while (n && n->most >= need) {
        if (n->left && n->left->most >= need) n = n->left;
        else if (n->gap >= need) return n;
        else n = n->right;
    }
    return NULL;
}

/* ---- pages that the host shares ------------------------------------------------------------------ */

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* Linux 4.17; older ones take the address for a hint */
#endif
enum { QUIET = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

static void *address_as_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr): that is the idea
}

static bool is_unified(const struct mem *m, const struct mem_block *b)
{
    return m->unified && b->host == address_as_pointer(b->address);
}

/* Pages for both at the device's address, if that is free in the host, or anywhere; NULL: there are none. */
static uint8_t *map_shared(const struct mem *m, uint64_t address, uint64_t size)
{
    void *there = address_as_pointer(address), *p;
    const int protection = PROT_READ | PROT_WRITE;
    if (m->unified)
        return p = mmap(there, size, protection, QUIET | MAP_FIXED, -1, 0),
               p == MAP_FAILED ? NULL : p;
    p = mmap(there, size, protection, QUIET | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED) return p;
    p = mmap(NULL, size, protection, QUIET, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void unmap_shared(const struct mem *m, const struct mem_block *b)
{
    if (!is_unified(m, b)) munmap(b->host, b->size);
    else if (mmap(b->host, b->size, PROT_NONE, QUIET | MAP_FIXED, -1, 0) == MAP_FAILED)
        give_up("give shared memory back", b->size);
}

/* Programs reserve more than there is memory, several times. Sectors are numbered with 32 bits. */
static uint64_t space_of(uint64_t bytes)
{
    const uint64_t sectors = UINT64_C(1) << 37; /* bytes of those that have a number */
    if (bytes <= sectors / 4) return 4 * bytes;
    return bytes <= sectors / 2 ? sectors : 2 * bytes;
}

/* Bytes of the host's that are as far as the addresses. */
static uint64_t span(const struct mem *m)
{
    return align_up(m->space + MEM_GAP, OPEN_STEP) + OPEN_STEP;
}

/* The host's range for addresses from `first` on. */
static void reserve_from(struct mem *m, uint64_t first)
{
    m->first = first;
    m->space = first + space_of(m->size);
    m->reserved = align_up(first + m->size + MEM_GAP, OPEN_STEP) + OPEN_STEP;
    m->base = reserve(m->reserved, PROT_NONE);
    m->opened = first;
    /* A hint: random accesses of large arrays would miss the host's TLB. Small programs keep small pages. */
    const uint64_t dense = first + DENSE;
    if (m->reserved > dense) (void)madvise(m->base + dense, m->reserved - dense, MADV_HUGEPAGE);
}

static bool keep_free(struct mem *m)
{
    const uint64_t size = span(m) - m->first;
    void *there = address_as_pointer(mem_first(m));
    void *p = mmap(there, size, PROT_NONE, QUIET | MAP_FIXED_NOREPLACE, -1, 0);
    m->unified = p == there;
    if (p != MAP_FAILED && !m->unified) munmap(p, size);
    return m->unified;
}

/* Whether the host's heap may grow into the device's addresses: in a process that is not position-independent it
 * begins anywhere in the first gigabyte behind the program, which is at 0x400000. */
static bool has_low_heap(void)
{
    return (uintptr_t)sbrk(0) < MEM_GLOBAL + ABOVE_HEAP;
}

/* Of memory without blocks. */
static void move_to(struct mem *m, uint64_t first)
{
    const bool tracked = m->written;
    munmap(m->base, m->reserved);
    if (tracked) munmap(m->written, span(m) / 8);
    m->written = NULL;
    reserve_from(m, first);
    if (tracked) mem_track(m);
}

/* Memory begins behind such a heap even where the heap has not come so far: its addresses are the same in each run. */
bool mem_unify(struct mem *m)
{
    if (m->unified) return true;
    const bool may_move = !m->serial, low = may_move && has_low_heap();
    if (!low && keep_free(m)) return true;
    if (!may_move) return false;
    move_to(m, ABOVE_HEAP);
    if (keep_free(m)) return true;
    if (!low) move_to(m, 0);
    return false;
}

static void free_texts(const struct mem_block *b)
{
    free((char *)b->name);
    free((char *)b->at);
    free((char *)b->by);
    free((char *)b->freed);
}

static void free_tree(const struct mem *m, struct node *n)
{
    if (!n) return;
    free_tree(m, n->left);
    free_tree(m, n->right);
    if (n->block.kind == MEM_SHARED_BLOCK) unmap_shared(m, &n->block);
    free_texts(&n->block);
    free(n);
}

/* ---- the range --------------------------------------------------------------------------------- */

struct mem *mem_new(uint64_t bytes)
{
    struct mem *m = calloc(1, sizeof *m);
    if (!m) give_up("describe device memory", sizeof *m);
    if (bytes > UINT64_C(1) << 46) give_up("reserve device memory", bytes);
    m->size = bytes;
    reserve_from(m, 0);
    return m;
}

void mem_free(struct mem *m)
{
    if (!m) return;
    munmap(m->base, m->reserved);
    if (m->written) munmap(m->written, span(m) / 8);
    free(m->pattern);
    free_tree(m, m->root);
    if (m->unified) munmap(address_as_pointer(mem_first(m)), span(m) - m->first);
    for (size_t i = 0; i < m->released_count && i < RELEASED_KEPT; i++) free_texts(&m->released[i]);
    free(m->released);
    free(m);
}

uint64_t mem_size(const struct mem *m)
{
    return m->size;
}

uint64_t mem_first(const struct mem *m)
{
    return MEM_GLOBAL + m->first;
}

uint64_t mem_space(const struct mem *m)
{
    return m->space;
}

uint8_t *mem_base(const struct mem *m)
{
    return m->base;
}

bool mem_is_plain(const struct mem *m)
{
    return !m->elsewhere;
}

uint8_t *mem_bytes(const struct mem *m, uint64_t address)
{
    if (!m->elsewhere) return m->base + (address - MEM_GLOBAL);
    const struct mem_block *b = mem_find(m, address, 1);
    return b ? b->host + (address - b->address) : m->base + (address - MEM_GLOBAL);
}

static bool open_to(struct mem *m, uint64_t end)
{
    uint64_t wanted = align_up(end, OPEN_STEP);
    if (wanted <= m->opened) return true;
    if (mprotect(m->base + m->opened, wanted - m->opened, PROT_READ | PROT_WRITE)) return false;
    m->opened = wanted;
    return true;
}

/* Makes bytes of a private mapping zero, where large by giving the pages back. */
static void clear(uint8_t *from, uint64_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), head = (page - (uintptr_t)from % page) % page;
    size_t tail = ((uintptr_t)from + size) % page;
    if (size <= SMALL_RELEASE || head + tail >= size ||
        madvise(from + head, size - head - tail, MADV_DONTNEED)) {
        memset(from, 0, size);
        return;
    }
    memset(from, 0, head);
    memset(from + size - tail, 0, tail);
}

static void fill_unwritten(const struct mem *m, const struct mem_block *b)
{
    if (!m->pattern || b->kind != MEM_OWN || b->variable || b->constant) return;
    mem_unwritten_bytes(m, b->address, b->host, b->size < MEM_FILLED ? b->size : MEM_FILLED);
}

/* ---- allocating -------------------------------------------------------------------------------- */

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy) give_up("describe an allocation", strlen(text));
    return copy;
}

/* Where the addresses of memory end; behind it are those that are reserved. */
static uint64_t end_of_memory(const struct mem *m)
{
    return mem_first(m) + m->size;
}

/* Whether `size` bytes from an address behind mem_first are addresses of memory. */
static bool fits(const struct mem *m, uint64_t address, uint64_t size)
{
    return address <= end_of_memory(m) && size <= end_of_memory(m) - address;
}

/* Where a block may begin: behind all that ever were, if addresses are not used again, or in the first gap. */
static uint64_t place_for(const struct mem *m, uint64_t size, uint64_t align)
{
    if (m->never_reuses_addresses && m->high) {
        uint64_t at = align_up(align_up(m->high + MEM_GAP, MEM_ALIGN), align);
        if (fits(m, at, size)) return at;
    }
    const struct node *next = first_gap(m->root, size + align - MEM_ALIGN);
    uint64_t from = next ? next->block.address - MEM_GAP - next->gap : gap_from(m, last(m->root));
    return align_up(from, align);
}

/* Where the bytes of a block lie that is to have its place at `address`. */
static uint8_t *bytes_for(const struct mem *m, const struct mem_block *b, uint64_t address)
{
    switch (b->kind) {
    case MEM_OWN: return m->base + (address - MEM_GLOBAL);
    case MEM_SHARED_BLOCK: return map_shared(m, address, b->size);
    case MEM_ADOPTED: return b->host;
    default: return NULL;
    }
}

/* A node for a block whose place is known to be free. */
static void insert(struct mem *m, struct mem_block block)
{
    struct node *n = calloc(1, sizeof *n);
    if (!n) give_up("describe an allocation", sizeof *n);
    const uint64_t address = block.address;
    n->block = block;
    n->block.name = copy_of(block.name ? block.name : "");
    n->block.at = block.at ? copy_of(block.at) : NULL;
    n->block.by = block.by ? copy_of(block.by) : NULL;
    n->block.serial = ++m->serial;
    n->block.live = true;
    if (address + block.size > m->high && address < end_of_memory(m))
        m->high = address + block.size;
    n->priority = mix(n->block.serial);
    struct node *low, *high;
    split(m->root, address, &low, &high);
    set_first_gap(m, n, last(low));
    if (high) set_first_gap(m, high, n);
    m->root = merge(merge(low, n), high);
    if (block.kind == MEM_SHARED_BLOCK || block.kind == MEM_ADOPTED) {
        m->elsewhere++;
        mem_mark_written(m, address, block.size);
    }
}

/* Takes the node of a block that begins there out of the tree. */
static struct node *take_out(struct mem *m, uint64_t address)
{
    struct node *low, *high, *n;
    split(m->root, address, &low, &high);
    split(high, address + 1, &n, &high);
    assert(n);
    if (high) set_first_gap(m, high, last(low));
    m->root = merge(low, high);
    if (n->block.kind == MEM_SHARED_BLOCK || n->block.kind == MEM_ADOPTED) m->elsewhere--;
    return n;
}

/* Whether a block may have its place there. */
static bool is_free(const struct mem *m, uint64_t address, uint64_t size)
{
    if (address < MEM_GLOBAL || address - MEM_GLOBAL > m->space ||
        size > m->space - (address - MEM_GLOBAL))
        return false;
    const struct node *n = floor_of(m->root, address + size + MEM_GAP - 1);
    return !n || end_of(n) + MEM_GAP <= address;
}

static uint64_t add_block(struct mem *m, uint64_t align, struct mem_block block)
{
    const uint64_t skew = block.kind == MEM_ADOPTED ? (uintptr_t)block.host % align : 0;
    const uint64_t size = block.size + skew;
    if (align < MEM_ALIGN) align = MEM_ALIGN;
    assert((align & (align - 1)) == 0);
    if (block.size == 0 || size < skew || size > m->size || align > UINT64_C(1) << 47) return 0;
    const uint64_t address = place_for(m, size, align);
    if (!fits(m, address, size)) return 0;
    if (!open_to(m, address - MEM_GLOBAL + size)) return 0;
    block.host = bytes_for(m, &block, address);
    if (!block.host) return 0;
    block.address = address + skew;
    insert(m, block);
    fill_unwritten(m, &block);
    return block.address;
}

uint64_t mem_alloc(struct mem *m, uint64_t size, uint64_t align, const char *name, bool constant,
                   bool variable)
{
    return add_block(
        m, align,
        (struct mem_block){.size = size, .name = name, .constant = constant, .variable = variable});
}

uint64_t mem_alloc_heap(struct mem *m, uint64_t size, const char *at, const char *by)
{
    return add_block(m, MEM_ALIGN,
                     (struct mem_block){.size = size, .name = "malloc", .at = at, .by = by});
}

uint64_t mem_alloc_shared(struct mem *m, uint64_t size, const char *name, bool variable)
{
    return add_block(
        m, MEM_SHARED_ALIGN,
        (struct mem_block){
            .size = size, .name = name, .variable = variable, .kind = MEM_SHARED_BLOCK});
}

uint64_t mem_adopt(struct mem *m, void *host, uint64_t size, const char *name)
{
    return add_block(
        m, ADOPTED_ALIGN,
        (struct mem_block){.size = size, .name = name, .host = host, .kind = MEM_ADOPTED});
}

void mem_never_reuse_addresses(struct mem *m)
{
    m->never_reuses_addresses = true;
}

static void remember(struct mem *m, struct mem_block block)
{
    if (!m->released) m->released = calloc(RELEASED_KEPT, sizeof *m->released);
    if (!m->released) give_up("describe released memory", RELEASED_KEPT * sizeof *m->released);
    struct mem_block *place = &m->released[m->released_count++ % RELEASED_KEPT];
    free_texts(place);
    block.live = false;
    *place = block;
}

bool mem_release(struct mem *m, uint64_t address)
{
    return mem_release_by(m, address, NULL);
}

bool mem_release_by(struct mem *m, uint64_t address, const char *by)
{
    const struct node *found = floor_of(m->root, address);
    if (!found || found->block.address != address) return false;
    struct node *n = take_out(m, address);
    const uint64_t offset = address - MEM_GLOBAL;
    if (n->block.kind == MEM_OWN) clear(n->block.host, n->block.size);
    else if (n->block.kind == MEM_SHARED_BLOCK) unmap_shared(m, &n->block);
    if (m->written && n->block.kind != MEM_RESERVED)
        clear(m->written + offset / 8, (n->block.size + 7) / 8);
    n->block.freed = by ? copy_of(by) : NULL;
    remember(m, n->block);
    free(n);
    return true;
}

/* ---- reserved addresses ------------------------------------------------------------------------------ */

uint64_t mem_reserve(struct mem *m, uint64_t size, uint64_t align, uint64_t at, const char *name)
{
    struct mem_block b = {.size = size, .name = name, .kind = MEM_RESERVED};
    if (size && at && align && at % align == 0 && is_free(m, at, size)) {
        b.address = at;
        insert(m, b);
        return at;
    }
    /* behind all of memory, whose addresses stay free */
    if (align < MEM_ALIGN) align = MEM_ALIGN;
    if (!size || align & (align - 1) || size > m->space || align > m->space) return 0;
    b.address = align_up(end_of_memory(m) + MEM_GAP, align);
    while (b.address - MEM_GLOBAL <= m->space && size <= m->space - (b.address - MEM_GLOBAL)) {
        const struct node *n = floor_of(m->root, b.address + size + MEM_GAP - 1);
        if (!n || end_of(n) + MEM_GAP <= b.address) {
            insert(m, b);
            return b.address;
        }
        b.address = align_up(end_of(n) + MEM_GAP, align);
    }
    return 0;
}

/* A part of what is reserved, or what is left of it. */
static void insert_part(struct mem *m, struct mem_block b, uint64_t from, uint64_t to)
{
    b.address = from;
    b.size = to - from;
    if (b.size) insert(m, b);
}

/* Joins what is reserved before an address to what is reserved from it on. */
static void join(struct mem *m, uint64_t address)
{
    const struct node *after = floor_of(m->root, address), *before = floor_of(m->root, address - 1);
    if (!before || !after || before == after || end_of(before) != address ||
        before->block.kind != MEM_RESERVED || after->block.kind != MEM_RESERVED)
        return;
    const uint64_t from = before->block.address, to = end_of(after);
    struct node *a = take_out(m, from), *b = take_out(m, address);
    insert_part(m, a->block, from, to);
    free_texts(&a->block);
    free_texts(&b->block);
    free(a);
    free(b);
}

bool mem_map(struct mem *m, uint64_t address, void *host, uint64_t size, bool read_only,
             const char *name)
{
    const struct node *found = floor_of(m->root, address);
    if (!found || found->block.kind != MEM_RESERVED || address < found->block.address || !size ||
        size > end_of(found) - address || address >= end_of(found))
        return false;
    struct node *n = take_out(m, found->block.address);
    insert_part(m, n->block, n->block.address, address);
    insert(m, (struct mem_block){.address = address,
                                 .size = size,
                                 .host = host,
                                 .name = name,
                                 .kind = MEM_ADOPTED,
                                 .read_only = read_only});
    insert_part(m, n->block, address + size, end_of(n));
    free_texts(&n->block);
    free(n);
    return true;
}

bool mem_unmap(struct mem *m, uint64_t address, const char *by)
{
    const struct node *found = floor_of(m->root, address);
    if (!found || found->block.address != address || found->block.kind != MEM_ADOPTED) return false;
    const uint64_t size = found->block.size;
    mem_release_by(m, address, by);
    insert(m, (struct mem_block){
                  .address = address, .size = size, .name = "reserved", .kind = MEM_RESERVED});
    join(m, address + size);
    join(m, address);
    return true;
}

/* ---- asking ------------------------------------------------------------------------------------ */

const struct mem_block *mem_find(const struct mem *m, uint64_t address, uint64_t size)
{
    const struct node *n = floor_of(m->root, address);
    if (!n || n->block.kind == MEM_RESERVED) return NULL;
    uint64_t offset = address - n->block.address;
    return offset <= n->block.size && size <= n->block.size - offset ? &n->block : NULL;
}

void mem_set_guest_access(struct mem *m, uint64_t address, bool access)
{
    struct node *n = m->root;
    while (n && n->block.address != address) n = address < n->block.address ? n->left : n->right;
    if (!n || n->block.host_only == !access) return;
    n->block.host_only = !access;
    m->changed_access++;
}

uint64_t mem_releases(const struct mem *m)
{
    return m->released_count + m->changed_access; /* who has found a block looks again */
}

const struct mem_block *mem_near(const struct mem *m, uint64_t address)
{
    const struct node *before = floor_of(m->root, address), *after = NULL;
    for (const struct node *n = m->root; n;) {
        if (n->block.address > address) {
            after = n;
            n = n->left;
        } else {
            n = n->right;
        }
    }
    uint64_t from_before = UINT64_MAX, to_after = UINT64_MAX; /* distances, 0: inside */
    if (before) from_before = address < end_of(before) ? 0 : address - end_of(before) + 1;
    if (after) to_after = after->block.address - address;
    /* Bytes within MEM_GAP of a live block were not part of a block that was released before it. */
    if (from_before > MEM_GAP && to_after > MEM_GAP) {
        size_t kept = m->released_count < RELEASED_KEPT ? m->released_count : RELEASED_KEPT;
        for (size_t i = 1; i <= kept; i++) {
            const struct mem_block *b = &m->released[(m->released_count - i) % RELEASED_KEPT];
            if (address >= b->address && address - b->address < b->size) return b;
        }
    }
    if (!before && !after) return NULL;
    return from_before <= to_after ? &before->block : &after->block;
}

void mem_describe(const struct mem *m, uint64_t address, struct buf *out)
{
    const struct mem_block *k = mem_near(m, address);
    if (!k) return;
    if (address < k->address) buf_printf(out, "  %" PRIu64 " bytes before", k->address - address);
    else if (address - k->address >= k->size)
        buf_printf(out, "  %" PRIu64 " bytes behind the end of", address - k->address - k->size);
    else buf_printf(out, "  %" PRIu64 " bytes into", address - k->address);
    buf_printf(out, " '%s' (%" PRIu64 " bytes at 0x%" PRIx64 "%s)\n", k->name, k->size, k->address,
               k->live ? "" : ", released");
    if (k->at) buf_printf(out, "    allocated at %s by %s\n", k->at, k->by ? k->by : "?");
    if (k->freed) buf_printf(out, "    released by %s\n", k->freed);
}

size_t mem_count(const struct mem *m)
{
    return m->root ? m->root->count : 0;
}

const struct mem_block *mem_at(const struct mem *m, size_t i)
{
    const struct node *n = m->root;
    while (n) {
        size_t left = n->left ? n->left->count : 0;
        if (i == left) return &n->block;
        if (i < left) {
            n = n->left;
        } else {
            i -= left + 1;
            n = n->right;
        }
    }
    return NULL;
}

uint64_t mem_used(const struct mem *m)
{
    return m->root ? m->root->used : 0;
}

/* ---- bytes that were written ------------------------------------------------------------------- */

void mem_track(struct mem *m)
{
    assert(m->serial == 0);
    if (!m->written) m->written = reserve(span(m) / 8, PROT_READ | PROT_WRITE);
}

uint8_t *mem_written_bits(const struct mem *m)
{
    return m->written;
}

void mem_mark_written(struct mem *m, uint64_t address, uint64_t size)
{
    if (!m->written || size == 0) return;
    assert(address >= MEM_GLOBAL && address - MEM_GLOBAL <= m->space &&
           size <= m->space - (address - MEM_GLOBAL));
    uint64_t from = address - MEM_GLOBAL, to = from + size; /* several threads may mark at once */
    uint8_t *p = m->written + from / 8, *end = m->written + to / 8;
    uint8_t head = (uint8_t)(0xff << (from & 7)), tail = (uint8_t)((1 << (to & 7)) - 1);
    if (p == end) {
        __atomic_fetch_or(p, (uint8_t)(head & tail), __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_or(p, head, __ATOMIC_RELAXED);
    memset(p + 1, 0xff, (size_t)(end - p - 1));
    if (tail) __atomic_fetch_or(end, tail, __ATOMIC_RELAXED);
}

bool mem_is_written(const struct mem *m, uint64_t address)
{
    const uint64_t at = address - MEM_GLOBAL;
    return m->written[at / 8] >> at % 8 & 1;
}

/* All of it lies in the range of the addresses. */
static bool has_bits(const struct mem *m, uint64_t address, uint64_t size)
{
    const uint64_t at = address - MEM_GLOBAL;
    return address >= MEM_GLOBAL && at <= m->space && size <= m->space - at;
}

/* Sets up to 16 bits; the array goes on behind the last ones (span()). */
static void mark_few(struct mem *m, uint64_t address, uint32_t size)
{
    const uint64_t at = address - MEM_GLOBAL;
    uint8_t *const p = m->written + at / 8;
    const uint32_t bits = ((1u << size) - 1) << at % 8;
    for (uint32_t i = 0; bits >> 8 * i; i++) { /* several threads may mark at once */
        const uint8_t set = (uint8_t)(bits >> 8 * i);
        if ((__atomic_load_n(p + i, __ATOMIC_RELAXED) & set) != set) /* locks are often set again */
            __atomic_fetch_or(p + i, set, __ATOMIC_RELAXED);
    }
}

void mem_mark_lanes(struct mem *m, const uint64_t address[32], uint32_t lanes, uint32_t size)
{
    if (!m->marks || !lanes) return;
    uint64_t gaps = ~lanes; /* 0: the lanes' bytes lie side by side */
    for (uint32_t i = 0; i < 32; i++) gaps |= address[i] ^ (address[0] + (uint64_t)i * size);
    if (!gaps && has_bits(m, address[0], UINT64_C(32) * size)) {
        mem_mark_written(m, address[0], UINT64_C(32) * size);
        return;
    }
    uint64_t last = 0; /* no global memory */
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint64_t at = address[__builtin_ctz(left)];
        if (at == last || !has_bits(m, at, size)) continue;
        last = at;
        if (size <= 16) mark_few(m, at, size);
        else mem_mark_written(m, at, size);
    }
}

static void set_written(struct mem *m, uint64_t address, bool written)
{
    const uint64_t at = address - MEM_GLOBAL;
    const uint8_t bit = (uint8_t)(1u << at % 8);
    if (written) m->written[at / 8] |= bit;
    else m->written[at / 8] &= (uint8_t)~bit;
}

void mem_copy_written(struct mem *m, uint64_t to, uint64_t from, uint64_t size)
{
    const struct mem_block *b = mem_find(m, to, size);
    uint64_t done = (to | from) % 8 ? 0 : size / 8 * 8;
    if (!m->written) return;
    if (b && b->kind != MEM_OWN) { /* the host may write it at any time */
        mem_mark_written(m, to, size);
        return;
    }
    memmove(m->written + (to - MEM_GLOBAL) / 8, m->written + (from - MEM_GLOBAL) / 8, done / 8);
    for (; done < size; done++) set_written(m, to + done, mem_is_written(m, from + done));
}

/* ---- memory that nothing wrote --------------------------------------------------------------------
 * A table of random bytes is made once. Each piece of memory is a piece of the table, from a place that a hash of seed
 * and address chooses: about as fast as zeros. */

enum { PATTERN = 64 << 10, PIECE = 4096 };

void mem_fill_unwritten(struct mem *m, uint64_t seed)
{
    uint64_t state = mix(seed);
    if (!seed || m->pattern) return;
    m->marks = !m->written;
    if (!m->written) m->written = reserve(span(m) / 8, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < mem_count(m); i++) /* these began as zeros */
        if (mem_at(m, i)->kind != MEM_RESERVED)
            mem_mark_written(m, mem_at(m, i)->address, mem_at(m, i)->size);
    m->seed = state;
    m->pattern = malloc(PATTERN);
    if (!m->pattern) give_up("fill memory", PATTERN);
    for (size_t i = 0; i < PATTERN; i++) {
        if (i % 8 == 0) state = mix(state);
        m->pattern[i] = (uint8_t)(state >> 8 * (i % 8)); /* the same on every host */
    }
}

void mem_zero(struct mem *m, uint64_t address, uint64_t size)
{
    const struct mem_block *b = mem_find(m, address, size);
    if (b && m->pattern && b->kind == MEM_OWN) clear(b->host + (address - b->address), size);
}

bool mem_fills(const struct mem *m)
{
    return m->pattern != NULL;
}

void mem_unwritten_bytes(const struct mem *m, uint64_t place, uint8_t *to, size_t size)
{
    uint64_t h = mix(m->seed ^ mix(place));
    for (size_t done = 0; done < size; done += PIECE) {
        const size_t n = size - done < PIECE ? size - done : PIECE;
        h = mix(h);
        memcpy(to + done, m->pattern + h % ((PATTERN - PIECE) / 8) * 8, n);
    }
}
