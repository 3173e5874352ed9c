/* Saves all memory of a device in a file. */
#define _POSIX_C_SOURCE 200809L /* pread */
#include "determinism/record/snapshot.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/emu.h"
#include "emu/unwritten.h"

#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PIECE = 1 << 16 };
#define SNAPSHOT UINT64_C(0x486564646c653031) /* at its beginning */

static uint64_t round_up(uint64_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

static void put(struct buf *b, uint64_t n)
{
    buf_add(b, (const char *)&n, sizeof n);
}

static bool zeros(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

/* As digests take them: what nothing wrote may be filled (emu_order.unwritten), and counts as zeros. */
static bool write_bytes(struct emu *e, const struct emu_allocation *a, uint64_t at, int file)
{
    unsigned char bytes[PAGE];
    for (uint64_t k = 0; emu_bytes(e, a->address, a->size) && k < a->size; k += PAGE) {
        const size_t n = a->size - k < PAGE ? (size_t)(a->size - k) : PAGE;
        mem_digested_bytes(emu_memory(e), a->address + k, bytes, n);
        if (zeros(bytes, n)) continue;
        if (pwrite(file, bytes, n, (off_t)(at + k)) != (ssize_t)n) return false;
    }
    return true;
}

bool snapshot_write(struct emu *e, const struct buf *printed, uint64_t digest, int file,
                    uint64_t from)
{
    struct buf b = {0};
    uint64_t offset = 0;
    size_t n = emu_allocation_count(e);
    put(&b, SNAPSHOT);
    put(&b, digest);
    put(&b, n);
    for (size_t i = 0; i < n; i++) {
        const struct emu_allocation a = emu_allocation_at(e, i);
        put(&b, a.address);
        put(&b, a.size);
        put(&b, offset);
        buf_add(&b, a.name ? a.name : "", (a.name ? strlen(a.name) : 0) + 1);
        offset += round_up(a.size);
    }
    buf_add(&b, printed->data ? printed->data : "", printed->size);
    buf_putc(&b, '\0');
    uint64_t at = round_up(b.size);
    bool ok = ftruncate(file, (off_t)(from + at + offset)) == 0 &&
              pwrite(file, b.data, b.size, (off_t)from) == (ssize_t)b.size;
    for (size_t i = 0; i < n && ok; i++) {
        const struct emu_allocation a = emu_allocation_at(e, i);
        ok = write_bytes(e, &a, from + at, file);
        at += round_up(a.size);
    }
    buf_free(&b);
    return ok;
}

struct snapshot *snapshot_read(struct arena *a, int file, uint64_t from)
{
    struct snapshot *s = arena_array(a, struct snapshot, 1);
    uint64_t head[3];
    if (file < 0 || pread(file, head, sizeof head, (off_t)from) != (ssize_t)sizeof head ||
        head[0] != SNAPSHOT)
        return NULL;
    s->digest = head[1];
    s->count = (size_t)head[2];
    s->list = arena_array(a, struct snapshot_allocation, s->count);
    /* Numbers and names, read a piece at a time. */
    struct buf text = {0};
    char piece[PIECE];
    uint64_t at = sizeof head;
    size_t done = 0, used = 0;
    bool printed = false;
    while (!printed) {
        ssize_t got = pread(file, piece, sizeof piece, (off_t)(from + at));
        if (got <= 0) break;
        buf_add(&text, piece, (size_t)got);
        at += (uint64_t)got;
        while (done <= s->count) {
            const size_t numbers = done < s->count ? 24 : 0;
            if (text.size < used + numbers) break;
            const char *nul = memchr(text.data + used + numbers, 0, text.size - used - numbers);
            if (!nul) break;
            const char *name = text.data + used + numbers;
            const char *copy = arena_copy(a, name, (size_t)(nul - name));
            if (done < s->count) {
                struct snapshot_allocation *x = &s->list[done];
                memcpy(&x->address, text.data + used, 8);
                memcpy(&x->size, text.data + used + 8, 8);
                memcpy(&x->place, text.data + used + 16, 8);
                x->name = copy;
            } else {
                s->printed = copy;
                printed = true;
            }
            used = (size_t)(nul - text.data) + 1;
            done++;
        }
    }
    buf_free(&text);
    const uint64_t data = round_up(sizeof head + used);
    for (size_t i = 0; i < s->count; i++) s->list[i].place += from + data;
    return printed ? s : NULL;
}
