/* emu/files.h: what a hostile guest may name, read and write in the folder. What POSIX says of open, read, write, lseek and
 * unlink is the expectation; the refusals are those of docs/files.md. */
#define _GNU_SOURCE
#include "emu/files.h"

#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(files, .init = command_enter, .fini = command_leave);

enum { R = GUEST_FILE_READ, W = GUEST_FILE_WRITE, RW = GUEST_FILE_READ_WRITE };
enum { CREATE = GUEST_FILE_CREATE, TRUNCATE = GUEST_FILE_TRUNCATE, APPEND = GUEST_FILE_APPEND };
#define HERE GUEST_FILE_POSITION

static struct guest_files *open_here(const char *folder, uint64_t quota)
{
    char *why = NULL;
    struct guest_files *f = guest_files_open(folder, quota, &why);
    cr_assert(f, "%s", why);
    return f;
}

static int32_t handle(struct guest_files *f, const char *name, uint32_t flags)
{
    const int64_t h = guest_file_open(f, name, flags);
    cr_assert(h >= 0, "%s: %lld", name, (long long)h);
    return (int32_t)h;
}

static void commit(struct guest_files *f)
{
    char *why = guest_files_commit(f);
    cr_expect(!why, "%s", why);
    free(why);
}

static void expect_file(const char *name, const char *bytes, size_t size)
{
    char all[4096];
    FILE *file = fopen(name, "rb");
    cr_assert(file, "%s", name);
    const size_t n = fread(all, 1, sizeof all, file);
    (void)fclose(file);
    cr_expect(n == size && memcmp(all, bytes, size) == 0, "%s: %zu bytes: %.*s", name, n, (int)n,
              all);
}

static void expect_none(const char *name)
{
    cr_expect(access(name, F_OK) < 0 && errno == ENOENT, "%s is there", name);
}

Test(files, are_read_and_written_at_positions_and_offsets)
{
    command_write("text", "0123456789");
    struct guest_files *f = open_here(".", 0);
    char got[16] = "";
    const int32_t h = handle(f, "./text", RW);
    cr_expect_eq(guest_file_size(f, h), 10);
    cr_expect_eq(guest_file_read(f, h, HERE, got, 4), 4);
    cr_expect_eq(guest_file_read(f, h, HERE, got + 4, 16), 6);
    cr_expect_str_eq(got, "0123456789");
    cr_expect_eq(guest_file_read(f, h, HERE, got, 1), 0);
    cr_expect_eq(guest_file_read(f, h, 8, got, 4), 2);
    cr_expect_eq(guest_file_seek(f, h, -3, GUEST_FILE_END), 7);
    cr_expect_eq(guest_file_write(f, h, HERE, "ab", 2), 2);
    cr_expect_eq(guest_file_seek(f, h, 0, GUEST_FILE_CURRENT), 9);
    cr_expect_eq(guest_file_write(f, h, 12, "xy", 2), 2); /* a hole of two bytes */
    cr_expect_eq(guest_file_size(f, h), 14);
    cr_expect_eq(guest_file_read(f, h, 5, got, 16), 9);
    cr_expect_arr_eq(got, "56ab9\0\0xy", 9);
    expect_file("text", "0123456789", 10); /* nothing before the launch has ended */
    commit(f);
    expect_file("text", "0123456ab9\0\0xy", 14);
    /* The handle stays open, and sees what the host does between launches. */
    command_write("text", "new");
    cr_expect_eq(guest_file_size(f, h), 3);
    cr_expect_eq(guest_file_read(f, h, 0, got, 16), 3);
    cr_expect_arr_eq(got, "new", 3);
    guest_files_close(f);
}

Test(files, are_made_emptied_appended_to_and_removed)
{
    struct guest_files *f = open_here(".", 0);
    command_write("old", "old text");
    command_write("gone", "gone");
    cr_expect_eq(guest_file_open(f, "new", W), -ENOENT);
    const int32_t new = handle(f, "new", W | CREATE | GUEST_FILE_EXCLUSIVE);
    cr_expect_eq(guest_file_open(f, "new", W | CREATE | GUEST_FILE_EXCLUSIVE), -EEXIST);
    const int32_t old = handle(f, "old", W | TRUNCATE), log = handle(f, "log", W | CREATE | APPEND);
    cr_expect_eq(guest_file_size(f, old), 0);
    cr_expect_eq(guest_file_write(f, old, HERE, "x", 1), 1);
    for (int i = 0; i < 2; i++) cr_expect_eq(guest_file_write(f, log, HERE, "line\n", 5), 5);
    cr_expect_eq(guest_file_unlink(f, "new"), -EBUSY);
    cr_expect_eq(guest_file_close(f, new), 0);
    cr_expect_eq(guest_file_unlink(f, "new"), 0);
    cr_expect_eq(guest_file_unlink(f, "new"), -ENOENT);
    cr_expect_eq(guest_file_unlink(f, "gone"), 0);
    cr_expect_eq(guest_file_open(f, "gone", R), -ENOENT);
    cr_expect_eq(access("gone", F_OK), 0);
    commit(f);
    expect_none("new");
    expect_none("gone");
    expect_file("old", "x", 1);
    expect_file("log", "line\nline\n", 10);
    guest_files_close(f);
}

/* A file with two names is removed as a name; the other keeps the bytes. */
Test(files, with_several_names_are_not_written)
{
    struct guest_files *f = open_here(".", 0);
    command_write("a", "both");
    cr_assert_eq(link("a", "b"), 0);
    cr_expect_eq(guest_file_open(f, "a", W), -EACCES);
    cr_expect_eq(guest_file_open(f, "a", RW | TRUNCATE), -EACCES);
    char got[4];
    cr_expect_eq(guest_file_read(f, handle(f, "b", R), 0, got, 4), 4);
    cr_expect_eq(guest_file_unlink(f, "a"), 0);
    const int32_t h = handle(f, "a", W | CREATE), again = handle(f, "a", W);
    cr_expect_eq(guest_file_write(f, h, 0, "own", 3), 3);
    cr_expect_eq(guest_file_close(f, again), 0);
    commit(f);
    expect_file("a", "own", 3);
    expect_file("b", "both", 4);
    guest_files_close(f);
}

Test(files, are_only_those_in_the_folder)
{
    command_write("secret", "secret");
    cr_assert(mkdir("box", 0755) == 0 && mkdir("box/sub", 0755) == 0);
    command_write("box/sub/ok", "ok");
    cr_assert(symlink("../secret", "box/link") == 0 && symlink("sub/ok", "box/inner") == 0 &&
              symlink("..", "box/up") == 0 && symlink("/proc/self/mem", "box/mem") == 0 &&
              mkfifo("box/fifo", 0600) == 0);
    char part[300], path[5000];
    memset(part, 'n', sizeof part);
    memset(path, 'p', sizeof path);
    part[256] = path[4999] = 0;
    for (size_t i = 100; i < 4999; i += 100) path[i] = '/';
    const struct {
        const char *name;
        int64_t error;
    } wrong[] = {
        {"../secret", -EACCES},
        {"sub/../../secret", -EACCES},
        {"sub/../sub/ok", -EACCES}, /* names with .. at all */
        {"..", -EACCES},
        {"/proc/self/mem", -EACCES},
        {"/etc/hostname", -EACCES},
        {"link", -ELOOP},
        {"inner", -ELOOP},
        {"up/secret", -ELOOP},
        {"mem", -ELOOP},
        {"fifo", -EACCES},
        {"", -ENOENT},
        {".", -EISDIR},
        {"sub", -EISDIR},
        {"sub/", -EISDIR},
        {"sub/ok/", -EISDIR},
        {"sub/ok/x", -ENOENT},
        {"none/x", -ENOENT},
        {part, -ENAMETOOLONG},
        {path, -ENAMETOOLONG},
    };
    struct guest_files *f = open_here("box", 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *name = wrong[i].name;
        cr_expect_eq(guest_file_open(f, name, R), wrong[i].error, "%s", name);
        cr_expect_eq(guest_file_open(f, name, W | CREATE | TRUNCATE), wrong[i].error, "%s", name);
        cr_expect_eq(guest_file_unlink(f, name), wrong[i].error, "%s", name);
    }
    cr_expect_eq(guest_file_close(f, handle(f, "sub//./ok", R)), 0);
    /* Something else takes the place of the file behind Heddle's back. */
    const int32_t h = handle(f, "sub/ok", RW);
    cr_assert(unlink("box/sub/ok") == 0 && symlink("../../secret", "box/sub/ok") == 0);
    char got[8];
    cr_expect_eq(guest_file_read(f, h, 0, got, 2), -EIO);
    cr_expect_eq(guest_file_write(f, h, 0, "no", 2), -EIO);
    guest_files_close(f);
    f = open_here("box", 0);
    cr_expect_eq(guest_file_write(f, handle(f, "late", W | CREATE), 0, "no", 2), 2);
    cr_assert_eq(symlink("../secret", "box/late"), 0);
    char *why = guest_files_commit(f);
    cr_expect(why && strstr(why, "cannot write 'box/late'"), "%s", why);
    free(why);
    expect_file("secret", "secret", 6);
    guest_files_close(f);
}

Test(files, reject_wrong_arguments)
{
    struct guest_files *f = open_here(".", 0);
    const uint32_t wrong[] = {3, R | TRUNCATE, R | APPEND, W | GUEST_FILE_EXCLUSIVE, 64, 1u << 31};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_eq(guest_file_open(f, "x", wrong[i]), -EINVAL);
    const int32_t w = handle(f, "x", W | CREATE), r = handle(f, "x", R);
    char byte = 'b';
    const int32_t none[] = {-1, INT32_MIN, 2, 64, 1 << 20, INT32_MAX};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        cr_expect_eq(guest_file_read(f, none[i], 0, &byte, 1), -EBADF);
        cr_expect_eq(guest_file_write(f, none[i], 0, &byte, 1), -EBADF);
        cr_expect_eq(guest_file_size(f, none[i]), -EBADF);
        cr_expect_eq(guest_file_seek(f, none[i], 0, 0), -EBADF);
        cr_expect_eq(guest_file_close(f, none[i]), -EBADF);
    }
    cr_expect_eq(guest_file_read(f, w, 0, &byte, 1), -EBADF);
    cr_expect_eq(guest_file_write(f, r, 0, &byte, 1), -EBADF);
    cr_expect_eq(guest_file_write(f, w, -1, &byte, 1), -EINVAL);
    cr_expect_eq(guest_file_read(f, r, -1, &byte, 1), -EINVAL);
    cr_expect_eq(guest_file_write(f, w, INT64_MAX, &byte, 1), -EFBIG);
    cr_expect_eq(guest_file_write(f, w, INT64_MAX - 1, &byte, 1), -EDQUOT);
    cr_expect_eq(guest_file_read(f, r, INT64_MAX, &byte, 1), -EFBIG);
    cr_expect_eq(guest_file_read(f, r, INT64_MAX - 1, &byte, 1), 0);
    cr_expect_eq(guest_file_seek(f, r, INT64_MAX, GUEST_FILE_SET), INT64_MAX);
    cr_expect_eq(guest_file_seek(f, r, 1, GUEST_FILE_CURRENT), -EINVAL);
    cr_expect_eq(guest_file_read(f, r, HERE, &byte, 1), -EFBIG);
    cr_expect_eq(guest_file_seek(f, r, -1, GUEST_FILE_SET), -EINVAL);
    cr_expect_eq(guest_file_seek(f, r, 0, 3), -EINVAL);
    cr_expect_eq(guest_file_close(f, r), 0);
    cr_expect_eq(guest_file_close(f, r), -EBADF);
    cr_expect_eq(handle(f, "x", R), r); /* the lowest that is free */
    guest_files_close(f);
}

Test(files, handles_and_files_are_limited)
{
    struct guest_files *f = open_here(".", 64 << 10); /* 16 pages */
    char name[16];
    int made = 0;
    int64_t h = 0;
    for (; h >= 0; made += h >= 0) {
        snprintf(name, sizeof name, "f%d", made);
        h = guest_file_open(f, name, W | CREATE);
    }
    cr_expect(made == 16 && h == -EDQUOT, "%d files, %lld", made, (long long)h);
    int open = made;
    while ((h = guest_file_open(f, "f0", W)) >= 0) open++;
    cr_expect(open == 65536 && h == -EMFILE, "%d handles, %lld", open, (long long)h);
    guest_files_close(f);
}

/* Pages of 4 KiB count once: those that a file grows by, holes included, and those of old bytes when they are written. */
Test(files, quota_counts_pages)
{
    char text[3 * 4096];
    memset(text, 'o', sizeof text);
    text[sizeof text - 1] = 0;
    command_write("old", text); /* three pages, as one byte is missing */
    struct guest_files *f = open_here(".", 8 << 12);
    const int32_t h = handle(f, "old", RW);
    cr_expect_eq(guest_file_write(f, h, 0, "x", 1), 1);              /* page 0: 7 left */
    cr_expect_eq(guest_file_write(f, h, 4095, "xx", 2), 2);          /* and page 1: 6 left */
    cr_expect_eq(guest_file_write(f, h, 4 * 4096, "x", 1), 1);       /* pages 3 and 4: 4 left */
    cr_expect_eq(guest_file_write(f, h, 3 * 4096, "x", 1), 1);       /* page 3 has been counted */
    cr_expect_eq(guest_file_write(f, h, 9 * 4096, "x", 1), -EDQUOT); /* 5 to 9: one too many */
    cr_expect_eq(guest_file_size(f, h), 4 * 4096 + 1);
    cr_expect_eq(guest_file_write(f, h, 9 * 4096 - 1, "x", 1), 1); /* 5 to 8 */
    cr_expect_eq(guest_file_write(f, h, 2 * 4096, "x", 1), -EDQUOT);
    cr_expect_eq(guest_file_write(f, h, 8 * 4096, "yy", 2), 2);
    char got[3];
    cr_expect_eq(guest_file_read(f, h, 4094, got, 3), 3);
    cr_expect_arr_eq(got, "oxx", 3);
    commit(f);
    cr_expect_eq(guest_file_write(f, h, 8 * 4096, "z", 1), -EDQUOT); /* nothing is given back */
    cr_expect_eq(guest_file_open(f, "new", W | CREATE), -EDQUOT);
    guest_files_close(f);
}

Test(files, read_only_folders_are_not_changed)
{
    command_write("text", "text");
    struct guest_files *f = open_here(".:ro", 0);
    char got[4];
    cr_expect_eq(guest_file_read(f, handle(f, "text", R), HERE, got, 4), 4);
    cr_expect_eq(guest_file_open(f, "text", W), -EROFS);
    cr_expect_eq(guest_file_open(f, "text", RW), -EROFS);
    cr_expect_eq(guest_file_open(f, "new", R | CREATE), -EROFS);
    cr_expect_eq(guest_file_unlink(f, "text"), -EROFS);
    guest_files_close(f);
    char *why = NULL;
    cr_expect(!guest_files_open("none", 0, &why) &&
              strstr(why, "cannot open folder 'none': No such"));
    free(why);
    cr_expect(!guest_files_open("text", 0, &why) && strstr(why, "Not a directory"), "%s", why);
    free(why);
    cr_expect(!guest_files_open("/proc:ro", 0, &why) && strstr(why, "host's kernel"), "%s", why);
    free(why);
}

/* The digest is of names and contents, whatever the order of the calls, and only of what has changed. */
Test(files, digests_compare_what_was_written)
{
    uint64_t digest[6];
    command_write("text", "text");
    for (int i = 0; i < 6; i++) {
        struct guest_files *f = open_here(".", 0);
        guest_files_discard(f);
        cr_expect_eq(guest_files_digest(f), 0);
        const int32_t a = handle(f, i == 3 ? "c" : "a", W | CREATE), b = handle(f, "b", W | CREATE);
        if (i == 1) guest_file_write(f, b, 0, "bb", 2);
        guest_file_write(f, a, 1, "a", 1);
        guest_file_write(f, a, 0, i == 2 ? "x" : "a", 1);
        if (i != 1) guest_file_write(f, b, 0, "bb", 2);
        if (i == 4) guest_file_unlink(f, "text");
        if (i == 5) { /* made and removed: as if it had never been */
            guest_file_close(f, handle(f, "new", W | CREATE));
            guest_file_unlink(f, "new");
        }
        digest[i] = guest_files_digest(f);
        commit(f);
        cr_expect_eq(digest[i], guest_files_digest(f));
        guest_files_close(f);
    }
    expect_none("a");
    expect_file("text", "text", 4);
    cr_expect(digest[0] && digest[0] == digest[1] && digest[0] == digest[5]);
    for (int i = 2; i < 5; i++) cr_expect_neq(digest[i], digest[0], "%d", i);
    cr_expect_neq(digest[2], digest[3]);
}
