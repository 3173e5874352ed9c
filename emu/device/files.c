/* See emu/files.h: a view of one folder in which changes stay in memory until they are committed.
 *
 * The contents of a file are its first `base` bytes in the folder, overlaid by pages of 4 KiB that the guest has
 * written; other bytes are zero. The file in the folder is examined when the guest first names it after a commit.
 *
 * The quota: a page counts when it is first written after a commit, or when the file grows over it; a new file counts
 * as a page. Truncating and deleting return nothing to the quota. So memory, holes and new files are bounded whatever
 * the guest does. */
#define _GNU_SOURCE
#include "emu/files.h"

#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_NAME = 4095, MOST_PART = 255, MOST_HANDLES = 1 << 16, TRIES = 16 };

struct page {
    uint64_t number; /* plus one; 0: no page is here */
    uint8_t *bytes;
};

struct guest_file {
    char *name;     /* without "." and empty parts */
    bool looked;    /* its state in the folder is known: */
    bool in_host;   /* it is there; */
    bool has_links; /* by several names, so that the guest must not change it */
    bool exists;    /* for the guest */
    bool removed;   /* the guest has removed what was in the folder */
    bool changed;   /* it has to be committed */
    bool replaced;  /* nothing of the bytes in the folder is left */
    int problem;    /* it is no ordinary file: an error of open */
    uint64_t size;
    uint64_t base;      /* so many bytes of the folder's file are still in it */
    uint64_t counted;   /* pages from 0 on that need not be counted when the file grows */
    struct page *pages; /* a hash table; `page_cap` is 0 or a power of two */
    size_t page_count, page_cap;
    uint32_t handles; /* that are open */
};

struct handle {
    struct guest_file *file; /* NULL: it is not open */
    uint32_t flags;
    uint64_t position;
};

struct guest_files {
    int folder;
    char *folder_name;
    bool read_only, discards;
    uint64_t pages_left;       /* of the quota */
    struct guest_file **files; /* a hash table by name; `file_cap` is a power of two */
    size_t file_count, file_cap;
    struct handle *handles;
    uint32_t handle_count, first_free; /* no handle below first_free is free */
    struct guest_file *base_of;        /* the file that `base_open` reads; NULL: none */
    int base_open;
};

static void *must(void *p)
{
    if (!p) abort();
    return p;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t pages_of(uint64_t bytes)
{
    return bytes / PAGE + (bytes % PAGE != 0);
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9fb21c651e98df25);
    return h ^ h >> 29;
}

static uint64_t digest_bytes(uint64_t h, const uint8_t *p, size_t n)
{
    uint64_t word;
    for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        h = mix(h, word);
    }
    for (; n; n--) h = mix(h, *p++);
    return h;
}

/* ---- the folder ------------------------------------------------------------------------------------------ */

/* Opens a name below the folder. Below 0: errno says why. */
static int open_below(const struct guest_files *f, const char *name, int flags)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
                           .mode = flags & O_CREAT ? 0644 : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                      RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    long fd;
    int tries = 0;
    do fd = syscall(SYS_openat2, f->folder, name, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || errno == EAGAIN) && ++tries < TRIES);
    return (int)fd;
}

/* An error of the host, as the guest sees it. */
static int guest_error(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR: return -ENOENT;
    case EXDEV:
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY: return -EACCES;
    case ELOOP:
    case EISDIR:
    case ENAMETOOLONG: return -error;
    default: return -EIO;
    }
}

/* An ordinary file, for reading or writing. Opening never waits (a FIFO that has taken its place). */
static int open_file(const struct guest_files *f, const char *name, int flags)
{
    struct stat s;
    const int fd = open_below(f, name, flags | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return guest_error(errno);
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
        ((flags & O_ACCMODE) == O_RDONLY || s.st_nlink == 1))
        return fd;
    close(fd);
    return -EACCES;
}

/* The folder that a name is in, without permission to read or write; *leaf: the name there. */
static int open_parent(const struct guest_files *f, const char *name, const char **leaf)
{
    const char *slash = strrchr(name, '/');
    *leaf = slash ? slash + 1 : name;
    char *parent = must(slash ? strndup(name, (size_t)(slash - name)) : strdup("."));
    const int fd = open_below(f, parent, O_PATH | O_DIRECTORY), error = errno;
    free(parent);
    return fd < 0 ? guest_error(error) : fd;
}

/* Finds out what the folder has by that name, without opening it. */
static void look(const struct guest_files *f, struct guest_file *x)
{
    struct stat s;
    if (x->looked) return;
    x->looked = true;
    x->problem = 0;
    x->in_host = x->exists = x->has_links = x->removed = x->replaced = false;
    x->size = x->base = x->counted = 0;
    const int fd = open_below(f, x->name, O_PATH);
    if (fd < 0) {
        const int error = guest_error(errno);
        if (error != -ENOENT) x->problem = error;
        return;
    }
    if (fstat(fd, &s) < 0) x->problem = -EIO;
    else if (S_ISDIR(s.st_mode)) x->problem = -EISDIR;
    else if (!S_ISREG(s.st_mode) || s.st_size < 0) x->problem = -EACCES;
    else {
        x->in_host = x->exists = true;
        x->has_links = s.st_nlink != 1;
        x->size = x->base = (uint64_t)s.st_size;
        x->counted = pages_of(x->base);
    }
    close(fd);
}

static void close_base(struct guest_files *f)
{
    if (f->base_of) close(f->base_open);
    f->base_of = NULL;
}

/* Bytes of the folder's file. What has been cut off in the meantime is zero. false: it cannot be read. */
static bool read_base(struct guest_files *f, struct guest_file *x, uint64_t at, uint8_t *to,
                      size_t n)
{
    if (f->base_of != x) {
        close_base(f);
        const int fd = open_file(f, x->name, O_RDONLY);
        if (fd < 0) return false;
        f->base_open = fd;
        f->base_of = x;
    }
    while (n) {
        const ssize_t got = pread(f->base_open, to, n, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (!got) break;
        to += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    memset(to, 0, n);
    return true;
}

/* ---- files ----------------------------------------------------------------------------------------------- */

static struct page *page_slot(const struct guest_file *x, uint64_t number)
{
    size_t h = (size_t)mix(0, number) & (x->page_cap - 1);
    while (x->pages[h].number && x->pages[h].number != number + 1) h = (h + 1) & (x->page_cap - 1);
    return &x->pages[h];
}

static uint8_t *page_find(const struct guest_file *x, uint64_t number)
{
    return x->page_cap ? page_slot(x, number)->bytes : NULL;
}

static void pages_grow(struct guest_file *x)
{
    const struct page *old = x->pages;
    const size_t n = x->page_cap;
    x->page_cap = n ? 2 * n : 16;
    x->pages = must(calloc(x->page_cap, sizeof *x->pages));
    for (size_t i = 0; i < n; i++)
        if (old[i].number) *page_slot(x, old[i].number - 1) = old[i];
    free((void *)(uintptr_t)old);
}

static void pages_drop(struct guest_file *x)
{
    for (size_t i = 0; i < x->page_cap; i++) free(x->pages[i].bytes);
    free(x->pages);
    x->pages = NULL;
    x->page_count = x->page_cap = 0;
}

/* The page, to be written. NULL: the folder's file cannot be read. */
static uint8_t *page_make(struct guest_files *f, struct guest_file *x, uint64_t number)
{
    uint8_t *bytes = page_find(x, number);
    if (bytes) return bytes;
    const uint64_t at = number * PAGE;
    bytes = must(calloc(1, PAGE));
    if (at < x->base && !read_base(f, x, at, bytes, (size_t)least(PAGE, x->base - at))) {
        free(bytes);
        return NULL;
    }
    if (2 * ++x->page_count > x->page_cap) pages_grow(x);
    *page_slot(x, number) = (struct page){number + 1, bytes};
    return bytes;
}

/* Bytes that lie within the file. false: the folder's file cannot be read. */
static bool read_bytes(struct guest_files *f, struct guest_file *x, uint64_t at, uint8_t *to,
                       uint64_t size)
{
    while (size) {
        const uint64_t in = at % PAGE, n = least(size, PAGE - in);
        const uint8_t *page = page_find(x, at / PAGE);
        const uint64_t base = page || at >= x->base ? 0 : least(n, x->base - at);
        if (page) memcpy(to, page + in, n);
        else {
            if (base && !read_base(f, x, at, to, base)) return false;
            memset(to + base, 0, n - base);
        }
        at += n;
        to += n;
        size -= n;
    }
    return true;
}

static uint64_t hash_name(const char *name)
{
    return digest_bytes(0, (const uint8_t *)name, strlen(name));
}

static struct guest_file **file_slot(const struct guest_files *f, const char *name)
{
    size_t h = (size_t)hash_name(name) & (f->file_cap - 1);
    while (f->files[h] && strcmp(f->files[h]->name, name) != 0) h = (h + 1) & (f->file_cap - 1);
    return &f->files[h];
}

static void files_grow(struct guest_files *f)
{
    struct guest_file **old = f->files;
    const size_t n = f->file_cap;
    f->file_cap = n ? 2 * n : 64;
    f->files = must(calloc(f->file_cap, sizeof(struct guest_file *)));
    for (size_t i = 0; i < n; i++)
        if (old[i]) *file_slot(f, old[i]->name) = old[i];
    free(old);
}

static struct guest_file *keep(struct guest_files *f, const struct guest_file *x)
{
    struct guest_file *out = must(malloc(sizeof *out));
    *out = *x;
    out->name = must(strdup(x->name));
    if (2 * ++f->file_count > f->file_cap) files_grow(f);
    return *file_slot(f, out->name) = out;
}

/* A name without "." and empty parts, which must be one of a file below the folder. */
static int plain_name(const char *name, char out[MOST_NAME + 1])
{
    size_t n = 0, part;
    if (!*name) return -ENOENT;
    if (*name == '/') return -EACCES;
    if (strlen(name) > MOST_NAME) return -ENAMETOOLONG;
    for (; *name; name += part) {
        name += strspn(name, "/");
        part = strcspn(name, "/");
        if (!part) return -EISDIR; /* it ends in a slash */
        if (part > MOST_PART) return -ENAMETOOLONG;
        if (part == 2 && memcmp(name, "..", 2) == 0) return -EACCES;
        if (part == 1 && *name == '.') continue;
        if (n) out[n++] = '/';
        memcpy(out + n, name, part);
        n += part;
    }
    out[n] = 0;
    return n ? 0 : -EISDIR;
}

/* The file of that name: one that is kept, or `*probe`, which the caller may keep(). An error otherwise. */
static int find_file(struct guest_files *f, const char *name, char plain[MOST_NAME + 1],
                     struct guest_file *probe, struct guest_file **out)
{
    const int error = plain_name(name, plain);
    if (error) return error;
    struct guest_file *x = f->file_cap ? *file_slot(f, plain) : NULL;
    if (!x) {
        *probe = (struct guest_file){.name = plain};
        x = probe;
    }
    look(f, x);
    *out = x;
    return x->problem;
}

static bool spend(struct guest_files *f, uint64_t pages)
{
    if (pages > f->pages_left) return false;
    f->pages_left -= pages;
    return true;
}

/* ---- handles --------------------------------------------------------------------------------------------- */

static struct handle *handle_at(const struct guest_files *f, int32_t handle)
{
    if (handle < 0 || (uint32_t)handle >= f->handle_count) return NULL;
    struct handle *h = &f->handles[handle];
    if (!h->file) return NULL;
    look(f, h->file);
    return h;
}

static struct handle *handle_for(const struct guest_files *f, int32_t handle, bool writes)
{
    struct handle *h = handle_at(f, handle);
    const uint32_t access = h ? h->flags & 3 : 0;
    if (!h || (writes ? access == GUEST_FILE_READ : access == GUEST_FILE_WRITE)) return NULL;
    return h;
}

static int32_t handle_new(struct guest_files *f, struct guest_file *x, uint32_t flags)
{
    uint32_t i = f->first_free;
    while (i < f->handle_count && f->handles[i].file) i++;
    if (i == MOST_HANDLES) return -EMFILE;
    if (i == f->handle_count) {
        f->handle_count = i ? 2 * i : 64;
        f->handles = must(realloc(f->handles, f->handle_count * sizeof *f->handles));
        memset(f->handles + i, 0, (f->handle_count - i) * sizeof *f->handles);
    }
    f->first_free = i + 1;
    f->handles[i] = (struct handle){.file = x, .flags = flags};
    x->handles++;
    return (int32_t)i;
}

/* Whether the host permits it, of a file in the folder. 0: it does. */
static int host_permits(const struct guest_files *f, const struct guest_file *x, bool reads,
                        bool writes)
{
    for (int w = 0; w < 2; w++) {
        if (!(w ? writes : reads)) continue;
        const int fd = open_file(f, x->name, w ? O_WRONLY : O_RDONLY);
        if (fd < 0) return fd;
        close(fd);
    }
    return 0;
}

/* 0: the guest may make a file of that name. */
static int may_create(struct guest_files *f, const struct guest_file *x)
{
    const char *leaf;
    const int parent = open_parent(f, x->name, &leaf);
    if (parent < 0) return parent;
    close(parent);
    return spend(f, 1) ? 0 : -EDQUOT;
}

static void empty(struct guest_file *x)
{
    pages_drop(x);
    x->size = x->base = x->counted = 0;
    x->replaced = x->changed = x->exists = true;
}

int64_t guest_file_open(struct guest_files *f, const char *name, uint32_t flags)
{
    const uint32_t all = GUEST_FILE_CREATE | GUEST_FILE_TRUNCATE | GUEST_FILE_APPEND |
                         GUEST_FILE_EXCLUSIVE | 3,
                   access = flags & 3;
    const bool writes = access != GUEST_FILE_READ, creates = flags & GUEST_FILE_CREATE;
    if (flags & ~all || access == 3 ||
        (flags & (GUEST_FILE_TRUNCATE | GUEST_FILE_APPEND) && !writes) ||
        (flags & GUEST_FILE_EXCLUSIVE && !creates))
        return -EINVAL;
    char plain[MOST_NAME + 1];
    struct guest_file probe, *x;
    int error = find_file(f, name, plain, &probe, &x);
    if (error) return error;
    if (f->read_only && (writes || creates)) return -EROFS;
    if (x->exists && flags & GUEST_FILE_EXCLUSIVE) return -EEXIST;
    if (!x->exists && !creates) return -ENOENT;
    if (x->exists && writes && x->in_host && x->has_links) return -EACCES;
    if (x->exists && x->in_host && !x->replaced)
        error = host_permits(f, x, access != GUEST_FILE_WRITE, writes);
    else if (!x->exists) error = may_create(f, x);
    if (error) return error;
    if (x == &probe) x = keep(f, x);
    const int32_t handle = handle_new(f, x, flags);
    if (handle >= 0 && (!x->exists || flags & GUEST_FILE_TRUNCATE)) empty(x);
    return handle;
}

int64_t guest_file_close(struct guest_files *f, int32_t handle)
{
    struct handle *h = handle_at(f, handle);
    if (!h) return -EBADF;
    h->file->handles--;
    h->file = NULL;
    if ((uint32_t)handle < f->first_free) f->first_free = (uint32_t)handle;
    return 0;
}

int64_t guest_file_unlink(struct guest_files *f, const char *name)
{
    char plain[MOST_NAME + 1];
    struct guest_file probe, *x;
    const int error = find_file(f, name, plain, &probe, &x);
    if (error) return error;
    if (f->read_only) return -EROFS;
    if (!x->exists) return -ENOENT;
    if (x->handles) return -EBUSY;
    if (x == &probe) x = keep(f, x);
    empty(x);
    x->exists = x->has_links = false;
    x->removed = x->changed = x->in_host;
    return 0;
}

int64_t guest_file_size(struct guest_files *f, int32_t handle)
{
    const struct handle *h = handle_at(f, handle);
    return h ? (int64_t)h->file->size : -EBADF;
}

int64_t guest_file_seek(struct guest_files *f, int32_t handle, int64_t offset, uint32_t whence)
{
    struct handle *h = handle_at(f, handle);
    int64_t to;
    if (!h) return -EBADF;
    if (whence > GUEST_FILE_END) return -EINVAL;
    const uint64_t from = whence == GUEST_FILE_SET       ? 0
                          : whence == GUEST_FILE_CURRENT ? h->position
                                                         : h->file->size;
    if (__builtin_add_overflow((int64_t)from, offset, &to) || to < 0) return -EINVAL;
    h->position = (uint64_t)to;
    return to;
}

/* ---- reading and writing --------------------------------------------------------------------------------- */

/* Where a call begins; an error if it is negative, or if its end is beyond the largest offset. */
static int64_t start(const struct handle *h, int64_t at, uint64_t size, bool writes)
{
    if (at == GUEST_FILE_POSITION)
        at = (int64_t)(writes && h->flags & GUEST_FILE_APPEND ? h->file->size : h->position);
    if (at < 0) return -EINVAL;
    return size > (uint64_t)(INT64_MAX - at) ? -EFBIG : at;
}

int64_t guest_file_can_read(struct guest_files *f, int32_t handle, int64_t at, uint64_t size)
{
    const struct handle *h = handle_for(f, handle, false);
    if (!h) return -EBADF;
    size = least(size, GUEST_FILE_MOST_BYTES);
    at = start(h, at, size, false);
    if (at < 0) return at;
    return (uint64_t)at < h->file->size ? (int64_t)least(size, h->file->size - (uint64_t)at) : 0;
}

int64_t guest_file_read(struct guest_files *f, int32_t handle, int64_t at, void *to, uint64_t size)
{
    const int64_t n = guest_file_can_read(f, handle, at, size);
    if (n <= 0) return n;
    struct handle *h = handle_for(f, handle, false);
    const int64_t from = start(h, at, (uint64_t)n, false);
    if (!read_bytes(f, h->file, (uint64_t)from, to, (uint64_t)n)) return -EIO;
    if (at == GUEST_FILE_POSITION) h->position = (uint64_t)from + (uint64_t)n;
    return n;
}

/* Pages that a write counts. */
static uint64_t cost(const struct guest_file *x, uint64_t at, uint64_t size)
{
    const uint64_t end = pages_of(at + size), old = least(end, pages_of(x->base));
    uint64_t n = end > x->counted ? end - x->counted : 0;
    for (uint64_t i = at / PAGE; i < old; i++) n += !page_find(x, i);
    return n;
}

int64_t guest_file_can_write(struct guest_files *f, int32_t handle, int64_t at, uint64_t size)
{
    const struct handle *h = handle_for(f, handle, true);
    if (!h) return -EBADF;
    size = least(size, GUEST_FILE_MOST_BYTES);
    at = start(h, at, size, true);
    if (at < 0) return at;
    return size && cost(h->file, (uint64_t)at, size) > f->pages_left ? -EDQUOT : 0;
}

int64_t guest_file_write(struct guest_files *f, int32_t handle, int64_t at, const void *from,
                         uint64_t size)
{
    const int64_t error = guest_file_can_write(f, handle, at, size);
    if (error || !size) return error;
    size = least(size, GUEST_FILE_MOST_BYTES);
    struct handle *h = handle_for(f, handle, true);
    struct guest_file *x = h->file;
    const uint64_t first = (uint64_t)start(h, at, size, true), end = first + size;
    if (!spend(f, cost(x, first, size))) return -EDQUOT;
    for (uint64_t done = 0; done < size;) {
        const uint64_t in = (first + done) % PAGE, n = least(size - done, PAGE - in);
        uint8_t *page = page_make(f, x, (first + done) / PAGE);
        if (!page) return -EIO;
        memcpy(page + in, (const uint8_t *)from + done, n);
        done += n;
    }
    x->changed = true;
    if (end > x->size) x->size = end;
    if (pages_of(end) > x->counted) x->counted = pages_of(end);
    if (at == GUEST_FILE_POSITION) h->position = end;
    return (int64_t)size;
}

/* ---- the end of a launch --------------------------------------------------------------------------------- */

static bool write_all(int fd, const uint8_t *from, uint64_t n, uint64_t at)
{
    while (n) {
        const ssize_t put = pwrite(fd, from, n, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from += put;
        at += (uint64_t)put;
        n -= (uint64_t)put;
    }
    return true;
}

static int remove_file(const struct guest_files *f, const struct guest_file *x)
{
    const char *leaf;
    const int parent = open_parent(f, x->name, &leaf);
    if (parent < 0) return -parent;
    const int error = unlinkat(parent, leaf, 0) < 0 && errno != ENOENT ? errno : 0;
    close(parent);
    return error;
}

/* 0, or an error of errno. */
static int commit_file(const struct guest_files *f, const struct guest_file *x)
{
    int error = x->removed ? remove_file(f, x) : 0;
    if (error || !x->exists) return error;
    const int fd = open_file(f, x->name, O_WRONLY | O_CREAT);
    if (fd < 0) return -fd;
    bool ok = !x->replaced || ftruncate(fd, 0) == 0;
    for (size_t i = 0; i < x->page_cap && ok; i++) {
        const uint64_t at = (x->pages[i].number - 1) * PAGE;
        if (x->pages[i].number && at < x->size)
            ok = write_all(fd, x->pages[i].bytes, least(PAGE, x->size - at), at);
    }
    ok = ok && ftruncate(fd, (off_t)x->size) == 0;
    error = ok ? 0 : errno;
    return close(fd) < 0 && ok ? errno : error;
}

char *guest_files_commit(struct guest_files *f)
{
    struct buf why = {0};
    if (f->discards) return NULL;
    close_base(f);
    for (size_t i = 0; i < f->file_cap; i++) {
        struct guest_file *x = f->files[i];
        if (!x) continue;
        const int error = x->changed ? commit_file(f, x) : 0;
        if (error)
            buf_printf(&why, "cannot %s '%s/%s': %s\n", x->exists ? "write" : "remove",
                       f->folder_name, x->name, strerror(error));
        pages_drop(x);
        x->looked = x->changed = false;
    }
    return why.data;
}

uint64_t guest_files_digest(struct guest_files *f)
{
    uint64_t sum = 0;
    uint8_t part[PAGE];
    for (size_t i = 0; i < f->file_cap; i++) {
        struct guest_file *x = f->files[i];
        if (!x || !x->changed) continue;
        uint64_t h = mix(hash_name(x->name), x->exists ? x->size + 1 : 0);
        for (uint64_t at = 0; at < x->size; at += PAGE) {
            const uint64_t n = least(PAGE, x->size - at);
            h = read_bytes(f, x, at, part, n) ? digest_bytes(h, part, n) : mix(h, at);
        }
        sum += h ? h : 1;
    }
    return sum;
}

/* ---- begin and end --------------------------------------------------------------------------------------- */

/* Opens it into f->folder. NULL: it may be used; else why not. */
static const char *open_folder(struct guest_files *f)
{
    struct statfs fs;
    f->folder = open(f->folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->folder < 0) return strerror(errno);
    if (fstatfs(f->folder, &fs) < 0) return strerror(errno);
    if (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC)
        return "files of the host's kernel are not for kernels";
    const int probe = open_below(f, ".", O_PATH | O_DIRECTORY);
    if (probe < 0) return errno == ENOSYS ? "the host has no openat2 (Linux 5.6)" : strerror(errno);
    close(probe);
    if (!f->read_only && faccessat(f->folder, ".", W_OK | X_OK, AT_EACCESS) < 0)
        return "it cannot be written; add ':ro' to let kernels only read";
    return NULL;
}

struct guest_files *guest_files_open(const char *folder, uint64_t quota, char **why)
{
    struct guest_files *f = must(calloc(1, sizeof *f));
    const size_t length = strlen(folder);
    f->read_only = length > 3 && strcmp(folder + length - 3, ":ro") == 0;
    f->folder_name = must(strndup(folder, length - (f->read_only ? 3 : 0)));
    f->pages_left = (quota ? quota : GUEST_FILES_BYTES) / PAGE;
    const char *wrong = open_folder(f);
    if (!wrong) return f;
    struct buf text = {0};
    buf_printf(&text, "cannot open folder '%s': %s", f->folder_name, wrong);
    *why = text.data;
    guest_files_close(f);
    return NULL;
}

void guest_files_discard(struct guest_files *f)
{
    f->discards = true;
}

void guest_files_close(struct guest_files *f)
{
    if (!f) return;
    close_base(f);
    for (size_t i = 0; i < f->file_cap; i++) {
        if (!f->files[i]) continue;
        pages_drop(f->files[i]);
        free(f->files[i]->name);
        free(f->files[i]);
    }
    free(f->files);
    free(f->handles);
    if (f->folder >= 0) close(f->folder);
    free(f->folder_name);
    free(f);
}
