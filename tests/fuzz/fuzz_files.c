/* Whatever calls of files a kernel makes (emu/files.h), they end, use no more memory than the quota, and give nothing from
 * outside the folder. An input is a list of calls; what is written stays in memory (guest_files_discard). */
#define _GNU_SOURCE
#include "emu/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUOTA = 64 << 10, HANDLES = 4, SECRET = 16 };
static const char secret[SECRET + 1] = "Kept from guests";
static char folder[64];

static void put(const char *name, const char *text, size_t size)
{
    FILE *f = fopen(name, "w");
    if (!f || fwrite(text, 1, size, f) != size || fclose(f)) abort();
}

/* A folder with files, and ways out of it. */
static void set_up(void)
{
    static char text[5000];
    char outer[] = "guest.XXXXXX", path[96]; /* in the working directory */
    if (!mkdtemp(outer)) abort();
    memset(text, 'x', sizeof text);
    snprintf(path, sizeof path, "%s/secret", outer);
    put(path, secret, SECRET);
    snprintf(folder, sizeof folder, "%s/in", outer);
    snprintf(path, sizeof path, "%s/sub", folder);
    if (mkdir(folder, 0700) || mkdir(path, 0700)) abort();
    snprintf(path, sizeof path, "%s/a", folder);
    put(path, text, sizeof text);
    snprintf(path, sizeof path, "%s/sub/b", folder);
    put(path, text, 10);
    snprintf(path, sizeof path, "%s/link", folder);
    if (symlink("../secret", path)) abort();
    snprintf(path, sizeof path, "%s/up", folder);
    if (symlink("..", path)) abort();
    snprintf(path, sizeof path, "%s/pipe", folder);
    if (mkfifo(path, 0600)) abort();
}

struct input {
    const uint8_t *at, *end;
};

static uint64_t number(struct input *in, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes-- && in->at < in->end) v = v << 8 | *in->at++;
    return v;
}

/* Mostly a small number, sometimes any. */
static uint64_t some(struct input *in)
{
    const uint64_t how = number(in, 1);
    return how < 128 ? how : how < 192 ? number(in, 2) : how < 224 ? number(in, 4) : number(in, 8);
}

static void name_of(struct input *in, char name[64])
{
    static const char *const known[] = {
        "a",   "sub/b",     "new",      "sub/new", "link",   "up/secret",     "pipe",
        "..",  "../secret", "sub/../a", "",        "/",      "sub",           "sub/../../x",
        "a/b", "up/in/a",   "./new",    "new/",    "link/x", "/proc/self/mem"};
    const uint64_t which = number(in, 1);
    if (which < sizeof known / sizeof *known) {
        snprintf(name, 64, "%s", known[which]);
        return;
    }
    size_t n = which % 63, left = (size_t)(in->end - in->at);
    if (n > left) n = left;
    memcpy(name, in->at, n);
    name[n] = 0;
    in->at += n;
}

static void look(const uint8_t *bytes, uint64_t size)
{
    if (size >= SECRET && memmem(bytes, size, secret, SECRET)) abort();
}

static void read_some(struct guest_files *f, int32_t h, int64_t at, uint64_t size)
{
    const int64_t can = guest_file_can_read(f, h, at, size);
    if (can < 0) return;
    if ((uint64_t)can > size || can > GUEST_FILE_MOST_BYTES) abort();
    uint8_t *to = malloc(can ? (size_t)can : 1);
    if (!to) abort();
    const int64_t got = guest_file_read(f, h, at, to, size);
    if (got > can) abort();
    if (got > 0) look(to, (uint64_t)got);
    free(to);
}

static void write_some(struct guest_files *f, int32_t h, int64_t at, uint64_t size, uint8_t with)
{
    const int64_t can = guest_file_can_write(f, h, at, size);
    if (can < 0) return;
    if (size > GUEST_FILE_MOST_BYTES) abort();
    uint8_t *from = malloc(size ? size : 1);
    if (!from) abort();
    memset(from, with, size);
    const int64_t put_there = guest_file_write(f, h, at, from, size);
    if (put_there > (int64_t)size) abort();
    if (put_there > QUOTA) abort(); /* more than all pages that it may have */
    free(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*folder) set_up();
    struct input in = {data, data + size};
    char *why = NULL, text[80], name[64];
    int32_t handles[HANDLES] = {-1, -1, 99, INT32_MIN};
    snprintf(text, sizeof text, "%s%s", folder, number(&in, 1) % 8 ? "" : ":ro");
    struct guest_files *f = guest_files_open(text, QUOTA, &why);
    if (!f) abort();
    guest_files_discard(f);
    while (in.at < in.end) {
        const uint64_t op = number(&in, 1);
        int32_t *h = &handles[op / 8 % HANDLES];
        const int64_t at = op & 64 ? (int64_t)some(&in) : GUEST_FILE_POSITION;
        switch (op % 8) {
        case 0:
        case 1:
            name_of(&in, name);
            *h = (int32_t)guest_file_open(f, name, (uint32_t)number(&in, 1));
            break;
        case 2: read_some(f, *h, at, some(&in)); break;
        case 3: write_some(f, *h, at, some(&in), (uint8_t)op); break;
        case 4: guest_file_seek(f, *h, (int64_t)some(&in), (uint32_t)number(&in, 1) % 4); break;
        case 5:
            if (guest_file_size(f, *h) >= 0) guest_file_size(f, *h);
            break;
        case 6: guest_file_close(f, *h); break;
        case 7:
            name_of(&in, name);
            guest_file_unlink(f, name);
            break;
        }
    }
    guest_files_digest(f);
    guest_files_close(f);
    return 0;
}
