/* The guest's file calls: buffers between guest memory and emu/files.h.
 *
 * The caller (device_runtime.c) has reported the call to the order, so memory has all stores of the warp. A buffer is
 * accessed in parts of 16 bytes where its address permits it, else byte by byte, like loads and stores of the thread,
 * in any state space. */
#include "emu/device/file_calls.h"

#include "emu/device/device.h"
#include "emu/files.h"
#include "emu/order.h"
#include "emu/sched/launch.h"
#include "emu/sched/notify.h"
#include "ptx/ptx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 16, MOST_NAME = 4096 };

struct call {
    struct emu_group *g;
    const struct emu_uop *in;
    u32 w, lane;
    struct guest_files *files;
};

/* Notifies observers of an access of `size` bytes: a power of two, at most PART. */
static void notify(const struct call *c, u8 kind, u64 address, u32 size, u8 *data)
{
    const struct emu_machine *m = c->g->worker->machine;
    if (!m->launch->observer_count) return;
    u64 at[LANES] = {0};
    u8 all[LANES * PART];
    at[c->lane] = address;
    memcpy(all + PART * c->lane, data, size);
    struct emu_access a = {.kind = kind,
                           .space = (u8)emu_space_of(c->g, address),
                           .type = size == 1 ? PTX_u8 : PTX_u32,
                           .width = (u8)(size == 1 ? 1 : 4),
                           .count = (u8)(size == 1 ? 1 : 4),
                           .lanes = 1u << c->lane,
                           .address = at,
                           .data = kind == EMU_LOAD ? NULL : all,
                           .result = kind == EMU_LOAD ? all : NULL,
                           .stride = PART,
                           .pc = c->in->pc};
    emu_notify_observers(c->g, c->w, &a);
}

static u32 part_of(u64 address, u64 left)
{
    return address % PART == 0 && left >= PART ? PART : 1;
}

static bool from_guest(const struct call *c, u64 address, u8 *to, u64 size)
{
    for (u32 n; size; address += n, to += n, size -= n) {
        n = part_of(address, size);
        if (!emu_lane_read(c->g, c->in, c->w, c->lane, PTX_SPACE_GENERIC, address, n, to))
            return false;
        notify(c, EMU_LOAD, address, n, to);
    }
    return true;
}

static bool to_guest(const struct call *c, u64 address, u8 *from, u64 size)
{
    for (u32 n; size; address += n, from += n, size -= n) {
        n = part_of(address, size);
        if (!emu_lane_write(c->g, c->in, c->w, c->lane, PTX_SPACE_GENERIC, address, n, from))
            return false;
        notify(c, EMU_STORE, address, n, from);
    }
    return true;
}

/* A name. *error: it is too long. */
static bool name_of(const struct call *c, u64 address, char name[MOST_NAME], i64 *error)
{
    for (u32 n = 0; n < MOST_NAME; n++) {
        if (!from_guest(c, address + n, (u8 *)name + n, 1)) return false;
        if (!name[n]) return true;
    }
    *error = -ENAMETOOLONG;
    return true;
}

static bool read_call(const struct call *c, i32 handle, u64 to, u64 size, i64 at, i64 *value)
{
    *value = guest_file_can_read(c->files, handle, at, size);
    if (*value <= 0) return true;
    u8 *bytes = malloc((size_t)*value);
    if (!bytes) abort();
    *value = guest_file_read(c->files, handle, at, bytes, (u64)*value);
    const bool ok = *value <= 0 || to_guest(c, to, bytes, (u64)*value);
    free(bytes);
    emu_charge(c->g, *value > 0 ? (u64)*value / PART : 0);
    return ok;
}

static bool write_call(const struct call *c, i32 handle, u64 from, u64 size, i64 at, i64 *value)
{
    if (size > GUEST_FILE_MOST_BYTES) size = GUEST_FILE_MOST_BYTES;
    *value = guest_file_can_write(c->files, handle, at, size);
    if (*value < 0 || !size) return true;
    u8 *bytes = malloc((size_t)size);
    if (!bytes) abort();
    const bool ok = from_guest(c, from, bytes, size);
    if (ok) *value = guest_file_write(c->files, handle, at, bytes, size);
    free(bytes);
    emu_charge(c->g, size / PART);
    return ok;
}

bool file_call(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
               enum runtime_call call, const u64 arg[4], u64 *value)
{
    struct call c = {g, in, w, lane, g->worker->machine->emu->config.files};
    char name[MOST_NAME];
    i64 result = 0;
    bool ok = true;
    const i32 handle = (i32)arg[0];
    if (!c.files) {
        *value = (u64)(i64)-ENOSYS;
        return true;
    }
    switch (call) {
    case RUNTIME_FILE_OPEN:
        ok = name_of(&c, arg[0], name, &result);
        if (ok && !result) result = guest_file_open(c.files, name, (u32)arg[1]);
        break;
    case RUNTIME_FILE_UNLINK:
        ok = name_of(&c, arg[0], name, &result);
        if (ok && !result) result = guest_file_unlink(c.files, name);
        break;
    case RUNTIME_FILE_READ:
        ok = read_call(&c, handle, arg[1], arg[2], GUEST_FILE_POSITION, &result);
        break;
    case RUNTIME_FILE_WRITE:
        ok = write_call(&c, handle, arg[1], arg[2], GUEST_FILE_POSITION, &result);
        break;
    /* A guest that gives GUEST_FILE_POSITION itself gives a wrong offset. */
    case RUNTIME_FILE_PREAD:
        if ((i64)arg[3] < 0) result = -EINVAL;
        else ok = read_call(&c, handle, arg[1], arg[2], (i64)arg[3], &result);
        break;
    case RUNTIME_FILE_PWRITE:
        if ((i64)arg[3] < 0) result = -EINVAL;
        else ok = write_call(&c, handle, arg[1], arg[2], (i64)arg[3], &result);
        break;
    case RUNTIME_FILE_SEEK:
        result = guest_file_seek(c.files, handle, (i64)arg[1], (u32)arg[2]);
        break;
    case RUNTIME_FILE_SIZE: result = guest_file_size(c.files, handle); break;
    default: result = guest_file_close(c.files, handle); break;
    }
    *value = (u64)result;
    return ok;
}
