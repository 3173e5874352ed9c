/* A device: creation, memory, copies by the host. */
#define _GNU_SOURCE
#include "emu/device/device.h"
#include "emu/device_order.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/device/check.h"
#include "emu/files.h"
#include "emu/measure/cache.h"
#include "emu/measure/count.h"
#include "emu/suppress.h"
#include "emu/unwritten.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_MEMORY ((u64)8 << 30)

struct handlers device_handlers(enum emu_isa isa)
{
#if defined __x86_64__
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
#if !defined WITHOUT_AVX512
    if (avx2 && (isa == EMU_ISA_BEST || isa == EMU_ISA_AVX512) &&
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return (struct handlers){emu_ops_avx512, &emu_counting_avx512};
#endif
#if !defined WITHOUT_AVX2
    if (avx2 && isa != EMU_ISA_PORTABLE) return (struct handlers){emu_ops_avx2, &emu_counting_avx2};
#endif
    (void)avx2;
#endif
    (void)isa;
    return (struct handlers){emu_ops_portable, &emu_counting_portable};
}

struct emu *emu_new(const struct emu_config *config)
{
    struct emu *e = calloc(1, sizeof *e);
    if (!e) abort();
    if (config) e->config = *config;
    struct emu_config *c = &e->config;
    if (c->trace) c->count = c->caches = true;
    if (!c->memory) c->memory = DEFAULT_MEMORY;
    if (!c->threads) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        c->threads = n > 0 ? (unsigned)n : 1;
    }
    if (c->group_warps != 1 && c->group_warps != 2) c->group_warps = GROUP;
    e->gpu = c->gpu ? c->gpu : emu_gpu_find(NULL);
    e->sms = c->sms ? c->sms : e->gpu->sms;
    if (c->checks) e->suppressions = suppressions_read(c->suppress, &(char *){NULL});
    e->mem = mem_new(c->memory);
    e->cta_arena = c->cta_arena ? c->cta_arena : cta_arena_new();
    e->handlers = device_handlers(c->isa);
    if (c->checks & EMU_CHECK_INIT) mem_track(e->mem);
    if (c->order) mem_fill_unwritten(e->mem, c->order->unwritten);
    /* Also for races: what one thread frees and another is given is not raced for. */
    if (c->checks & (EMU_CHECK_MEMORY | EMU_CHECK_RACE)) mem_never_reuse_addresses(e->mem);
    return e;
}

void emu_drop_launch(struct emu *e)
{
    if (e->traces.cta_arena) trace_arena_reset(&e->traces);
    arena_free(e->launch_arena);
}

void emu_free(struct emu *e)
{
    if (!e) return;
    emu_drop_launch(e);
    for (u32 sm = 0; e->l1 && sm < e->sms; sm++) cache_free(e->l1[sm]);
    free(e->l1);
    cache_free(e->l2);
    arena_free(e->leak_arena);
    free(e->params);
    suppressions_free(e->suppressions);
    mem_free(e->mem);
    if (!e->config.cta_arena) cta_arena_free(e->cta_arena);
    free(e);
}

/* ---- memory --------------------------------------------------------------------------------------- */

uint64_t emu_alloc(struct emu *e, uint64_t size, const char *name)
{
    return mem_alloc(e->mem, size, MEM_ALIGN, name ? name : "allocation", false, false);
}

bool emu_unify(struct emu *e)
{
    return mem_unify(e->mem);
}

bool emu_in_range(const struct emu *e, uint64_t address)
{
    return address >= mem_first(e->mem) && address - MEM_GLOBAL < mem_space(e->mem);
}

void emu_observe_memory(struct emu *e, const struct emu_memory_observer *o)
{
    e->memory_observer = o ? *o : (struct emu_memory_observer){0};
}

/* The address, which is 0 if there is no such memory. */
static u64 shared_at(struct emu *e, u64 address, u64 size)
{
    const struct emu_memory_observer *o = &e->memory_observer;
    if (address && o->shares) o->shares(o->self, address, size);
    return address;
}

uint64_t emu_alloc_shared(struct emu *e, uint64_t size, const char *name)
{
    return shared_at(e, mem_alloc_shared(e->mem, size, name, false), size);
}

uint64_t emu_adopt(struct emu *e, void *host, uint64_t size, const char *name)
{
    return shared_at(e, mem_adopt(e->mem, host, size, name), size);
}

bool emu_release(struct emu *e, uint64_t address)
{
    return emu_release_by(e, address, NULL);
}

bool emu_release_by(struct emu *e, uint64_t address, const char *by)
{
    const struct mem_block *b = mem_find(e->mem, address, 1);
    const struct emu_memory_observer *o = &e->memory_observer;
    if (!b || b->address != address || b->variable || b->at) return false;
    const u64 size = b->size;
    if (!mem_release_by(e->mem, address, by)) return false;
    if (o->release) o->release(o->self, address, size);
    return true;
}

void emu_describe(const struct emu *e, uint64_t address, char *out, size_t size)
{
    struct buf b = {0};
    mem_describe(e->mem, address, &b);
    snprintf(out, size, "%s", b.data ? b.data : "");
    buf_free(&b);
}

void *emu_bytes(struct emu *e, uint64_t address, uint64_t size)
{
    const struct mem_block *b = mem_find(e->mem, address, size ? size : 1);
    return b ? b->host + (address - b->address) : NULL;
}

/* A copy of up to 64 KB is done for the host at once (CUDA C++ Programming Guide, "Concurrent Execution between Host and
 * Device"). So it goes to the GPU with its command, and L2 keeps it; larger ones are moved by a copy engine (assumed; launches
 * on an H200 differ at this size: calibrate/data/h200.csv, `small_grid`, `pointer_chase`, `matmul_tiled`). */
static const u64 inline_copy = 64 << 10;

/* Of the lines that a copy engine has moved, L2 lacks a share. Which ones is not known: those that a hash of their number says. */
static bool keeps_line(const struct emu_gpu *g, u32 line)
{
    line ^= line >> 16, line *= 0x7feb352du, line ^= line >> 15, line *= 0x846ca68bu;
    return (line ^ line >> 16) >= g->link_uncached * UINT32_MAX;
}

/* What the host copies in goes through L2 and stays there, but for a share of a large copy. */
void emu_in_l2(struct emu *e, uint64_t to, uint64_t size)
{
    if (!size || !e->config.trace || to < MEM_GLOBAL) return;
    if (!e->l2) e->l2 = cache_new(e->gpu->l2, e->gpu->l2_ways);
    const u32 first = emu_sector_of(to), last = emu_sector_of(to + size - 1);
    const bool all = size <= inline_copy || e->gpu->link_uncached <= 0;
    for (u32 from = first, end; from <= last; from = end + 1) {
        end = all || (from | 3) > last ? last : from | 3;
        if (all || keeps_line(e->gpu, from / 4)) e->handlers.counting->fill(e->l2, from, end);
    }
}

uint64_t emu_reserve(struct emu *e, uint64_t size, uint64_t align, uint64_t at, const char *name)
{
    return mem_reserve(e->mem, size, align, at, name);
}

bool emu_unreserve(struct emu *e, uint64_t address)
{
    return mem_release(e->mem, address);
}

void emu_set_access(struct emu *e, uint64_t address, bool access)
{
    mem_set_guest_access(e->mem, address, access);
}

bool emu_map(struct emu *e, uint64_t address, void *host, uint64_t size, bool read_only,
             const char *name)
{
    if (!mem_map(e->mem, address, host, size, read_only, name)) return false;
    (void)shared_at(e, address, size);
    return true;
}

bool emu_unmap(struct emu *e, uint64_t address, const char *by)
{
    return mem_unmap(e->mem, address, by);
}

/* The bytes at an address, and how many of `size` lie side by side; NULL: none. */
static u8 *part_at(const struct emu *e, u64 address, u64 size, u64 *n)
{
    const struct mem_block *b = mem_find(e->mem, address, 1);
    *n = 0;
    if (!b) return NULL;
    const u64 rest = b->size - (address - b->address);
    *n = rest < size ? rest : size;
    return b->host + (address - b->address);
}

bool emu_has(const struct emu *e, uint64_t address, uint64_t size)
{
    for (u64 n = 0; size; address += n, size -= n)
        if (!part_at(e, address, size, &n)) return false;
    return true;
}

/* And a copy may write them. */
static bool may_write(const struct emu *e, u64 address, u64 size)
{
    for (u64 n = 0; size; address += n, size -= n)
        if (!part_at(e, address, size, &n) || mem_find(e->mem, address, 1)->read_only) return false;
    return true;
}

bool emu_copy_in(struct emu *e, uint64_t to, const void *from, uint64_t size)
{
    const struct emu_memory_observer *o = &e->memory_observer;
    if (!may_write(e, to, size)) return false;
    if (o->write) o->write(o->self, to, size);
    mem_mark_written(e->mem, to, size);
    for (u64 done = 0, n = 0; done < size; done += n) {
        u8 *p = part_at(e, to + done, size - done, &n);
        memcpy(p, (const u8 *)from + done, n);
    }
    emu_in_l2(e, to, size);
    return true;
}

bool emu_copy_out(struct emu *e, void *to, uint64_t from, uint64_t size)
{
    const struct emu_memory_observer *o = &e->memory_observer;
    if (!emu_has(e, from, size)) return false;
    if (o->read) o->read(o->self, from, size);
    for (u64 done = 0, n = 0; done < size; done += n) {
        const u8 *p = part_at(e, from + done, size - done, &n);
        memcpy((u8 *)to + done, p, n);
    }
    return true;
}

uint64_t emu_unwritten(const struct emu *e, uint64_t address, uint64_t size, uint64_t *first)
{
    const u8 *bits = mem_written_bits(e->mem);
    uint64_t n = 0;
    if (!bits || !emu_has(e, address, size)) return 0;
    for (uint64_t i = 0, at = address - MEM_GLOBAL; i < size; i++, at++) {
        if (bits[at / 8] >> at % 8 & 1) continue;
        if (!n++) *first = address + i;
    }
    return n;
}

bool emu_copy(struct emu *e, uint64_t to, uint64_t from, uint64_t size)
{
    const struct emu_memory_observer *o = &e->memory_observer;
    if (!may_write(e, to, size) || !emu_has(e, from, size)) return false;
    if (o->copy) o->copy(o->self, to, from, size);
    mem_copy_written(e->mem, to, from, size);
    for (u64 done = 0, n = 0, m = 0; done < size; done += n) {
        u8 *p = part_at(e, to + done, size - done, &m);
        const u8 *q = part_at(e, from + done, m, &n);
        memmove(p, q, n);
    }
    return true;
}

bool emu_fill(struct emu *e, uint64_t to, const void *pattern, unsigned width, uint64_t count)
{
    if (!count || !width) return true;
    const struct emu_memory_observer *o = &e->memory_observer;
    if (count > UINT64_MAX / width || !may_write(e, to, count * width)) return false;
    if (o->write) o->write(o->self, to, count * width);
    mem_mark_written(e->mem, to, count * width);
    for (u64 done = 0, n = 0; done < count * width;
         done += n) { /* parts are multiples of any width */
        u8 *p = part_at(e, to + done, count * width - done, &n);
        if (width == 1) memset(p, *(const u8 *)pattern, n);
        else
            for (u64 i = 0; i < n; i += width) memcpy(p + i, pattern, width);
    }
    return true;
}

static struct emu_allocation allocation(const struct mem_block *b)
{
    return (struct emu_allocation){b->address,  b->size,      b->name,
                                   b->constant, b->read_only, b->live};
}

bool emu_allocation_near(const struct emu *e, uint64_t address, struct emu_allocation *out)
{
    const struct mem_block *b = mem_near(e->mem, address);
    if (b) *out = allocation(b);
    return b != NULL;
}

size_t emu_allocation_count(const struct emu *e)
{
    return mem_count(e->mem);
}

struct emu_allocation emu_allocation_at(const struct emu *e, size_t i)
{
    return allocation(mem_at(e->mem, i));
}

struct mem *emu_memory(struct emu *e)
{
    return e->mem;
}

bool emu_heap_limit(struct emu *e, uint64_t bytes)
{
    if (bytes > mem_size(e->mem)) return false;
    e->config.heap = bytes ? bytes : 1; /* 0 would be the default */
    return true;
}

uint64_t emu_memory_used(const struct emu *e)
{
    return mem_used(e->mem);
}

/* Blocks that one place allocated are one finding. */
static bool same_place(const struct mem_block *a, const struct mem_block *b)
{
    return a->at && b->at ? strcmp(a->at, b->at) == 0
                          : !a->at && !b->at && strcmp(a->name, b->name) == 0;
}

const struct emu_finding *emu_leaks(struct emu *e, bool guest_only, size_t *count)
{
    arena_free(e->leak_arena);
    struct arena *a = e->leak_arena = arena_new();
    size_t blocks = mem_count(e->mem), n = 0, cap = 0;
    struct leak {
        const struct mem_block *first;
        u64 count, bytes;
    } *leaks = NULL;
    for (size_t i = 0, k; i < blocks; i++) {
        const struct mem_block *b = mem_at(e->mem, i);
        if (b->variable || b->constant || b->kind == MEM_RESERVED || (guest_only && !b->at))
            continue;
        for (k = 0; k < n && !same_place(leaks[k].first, b); k++) {
        }
        if (k == n) {
            leaks = arena_grow(a, leaks, n, &cap, n + 1, sizeof *leaks);
            leaks[n++] = (struct leak){.first = b};
        }
        leaks[k].count++;
        leaks[k].bytes += b->size;
    }
    struct emu_finding *list = arena_array(a, struct emu_finding, n + 1);
    for (size_t k = 0; k < n; k++) {
        const struct mem_block *b = leaks[k].first;
        struct buf text = {0};
        buf_printf(&text, "leak: '%s', %llu bytes at 0x%llx, was not released\n", b->name,
                   (unsigned long long)b->size, (unsigned long long)b->address);
        if (b->at) buf_printf(&text, "    allocated at %s by %s\n", b->at, b->by ? b->by : "?");
        if (leaks[k].count > 1)
            buf_printf(&text, "    ... and %llu more from there, %llu bytes in all\n",
                       (unsigned long long)leaks[k].count - 1, (unsigned long long)leaks[k].bytes);
        list[k] = (struct emu_finding){
            .kind = EMU_LEAK, .count = leaks[k].count, .text = arena_copy(a, text.data, text.size)};
        buf_free(&text);
    }
    *count = n;
    return list;
}

const struct emu_order *emu_device_order(const struct emu *e)
{
    return e->config.order;
}

uint64_t emu_digest(struct emu *e)
{
    return mem_digest(e->mem);
}

uint64_t emu_files_digest(const struct emu *e)
{
    return e->config.files ? guest_files_digest(e->config.files) : 0;
}

const char *emu_uop_name(unsigned id)
{
    static const char *const names[UOP_COUNT] = {
#define LANE1(name, ...) [UOP_##name] = #name,
#define LANE2(name, ...) [UOP_##name] = #name,
#define LANE3(name, ...) [UOP_##name] = #name,
#define FAST(name) [UOP_##name] = #name,
#define WARP(name) [UOP_##name] = #name,
#include "emu/ops/uops.def"
    };
    return id < UOP_COUNT && names[id] ? names[id] : "?";
}
