/* emu/files.h: files of the host that kernels read and write (include/heddle/device_io.h), in one folder.
 *
 *     struct guest_files *files = guest_files_open("results", 256 << 20, &why);
 *     struct emu *e = emu_new(&(struct emu_config){.files = files});
 *     ... emu_launch() ...                          // ends with guest_files_commit()
 *     guest_files_close(files);
 *
 * The guest is untrusted. The folder is opened once; every name is resolved below it with openat2(2), without symbolic
 * links and mount points, and only ordinary files with one name are opened. Data that the guest writes stays in memory
 * until the launch has ended, as pages of 4 KiB that overlay the files in the folder. A quota bounds the number of
 * these pages.
 *
 * Results do not depend on the host's threads: programs with these calls run their CTAs on one host thread
 * (emu/lower/flow.c), and calls are executed one at a time.
 *
 * Callers: library/device.c and cuda/environment.c open and close the files; emu/device/file_calls.c has the guest's
 * calls; heddle check compares digests. */
#ifndef HEDDLE_EMU_FILES_H
#define HEDDLE_EMU_FILES_H

#include <stdbool.h>
#include <stdint.h>

enum { GUEST_FILES_BYTES = 256 << 20 }; /* default quota */

struct guest_files;

/* `folder`: DIR, or DIR:ro if the guest may only read. `quota`: bytes; 0: GUEST_FILES_BYTES. NULL: failed; `*why` is
 * the reason (malloc'd text). */
struct guest_files *guest_files_open(const char *folder, uint64_t quota, char **why);
/* From now on guest_files_commit writes nothing to the folder: data that the guest writes stays in memory until
 * guest_files_close. */
void guest_files_discard(struct guest_files *f);
void guest_files_close(struct guest_files *f); /* NULL is allowed */

/* To be called after a launch: writes changed files to the folder. NULL: success; else an error message (malloc'd
 * text). */
char *guest_files_commit(struct guest_files *f);

/* A digest of names and contents of the files that the guest has changed; 0: none. It covers only changes that have not
 * been committed, so it is useful after guest_files_discard(). */
uint64_t guest_files_digest(struct guest_files *f);

/* ---- the guest's calls. Results below 0 are errors: -ENOENT, with the numbers of errno(3) on x86-64 ------------------- */

/* the same values as in device_io.h */
enum guest_file_flag {
    GUEST_FILE_READ = 0,
    GUEST_FILE_WRITE = 1,
    GUEST_FILE_READ_WRITE = 2,
    GUEST_FILE_CREATE = 4,
    GUEST_FILE_TRUNCATE = 8,
    GUEST_FILE_APPEND = 16,
    GUEST_FILE_EXCLUSIVE = 32,
};
enum { GUEST_FILE_MOST_BYTES = 64 << 20 }; /* most bytes of one call */
enum guest_file_whence { GUEST_FILE_SET, GUEST_FILE_CURRENT, GUEST_FILE_END };

int64_t guest_file_open(struct guest_files *f, const char *name, uint32_t flags); /* a handle */
int64_t guest_file_close(struct guest_files *f, int32_t handle);
int64_t guest_file_unlink(struct guest_files *f, const char *name);
int64_t guest_file_size(struct guest_files *f, int32_t handle);
int64_t guest_file_seek(struct guest_files *f, int32_t handle, int64_t offset, uint32_t whence);

/* `at` of the following calls: an offset in the file, or GUEST_FILE_POSITION: the handle's position, which the call
 * advances. */
#define GUEST_FILE_POSITION INT64_MIN
/* The number of bytes that a read will return, for allocating memory for them. */
int64_t guest_file_can_read(struct guest_files *f, int32_t handle, int64_t at, uint64_t size);
int64_t guest_file_read(struct guest_files *f, int32_t handle, int64_t at, void *to, uint64_t size);
/* The error that a write of `size` bytes will return, for use before the bytes are copied; 0: none. */
int64_t guest_file_can_write(struct guest_files *f, int32_t handle, int64_t at, uint64_t size);
int64_t guest_file_write(struct guest_files *f, int32_t handle, int64_t at, const void *from,
                         uint64_t size);

#endif
