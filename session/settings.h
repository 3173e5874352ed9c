/* session/settings.h: the settings of a run. One table (session/settings.def) has a row for each setting: its names on
 * the command line (--memory 8G), in a job file (memory: 8G) and in the environment of a CUDA program
 * (HEDDLE_MEMORY=8G), its parser, its default and its help text.
 *
 *     struct settings s = {0};
 *     const struct setting *x = setting_find("memory", 6);
 *     if (!setting_read(x, &diags, value, &s)) ...        // the message is in the diags
 *
 * `heddle run`, `heddle check`, the reader of job files and libcuda.so.1 use the table. Its parsers do not open the
 * files that a setting names, except files of GPUs and of suppressions. */
#ifndef HEDDLE_SESSION_SETTINGS_H
#define HEDDLE_SESSION_SETTINGS_H

#include "base/diag.h"
#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct emu_gpu;

struct settings {
    unsigned threads, sms; /* host threads; SMs; 0: the default */
    uint64_t memory;       /* size of device memory in bytes; 0: the default */
    uint64_t files_bytes;  /* limit of --files-bytes in bytes; 0: the default */
    uint64_t max_instructions;
    uint64_t seed;
    double timeout; /* seconds; 0: no timeout */
    bool independent_threads, strict_stack;
    bool no_speculation, continue_after_faults;
    unsigned checks; /* bits EMU_CHECK_... */
    /* Texts as the user wrote them, here and below; NULL: not given. */
    const char *order, *suppress, *gpu_name, *files;
    const struct emu_gpu *gpu; /* the GPU that gpu_name names; NULL: not given */
    const char *counts, *record, *replay, *watch;
};

enum {
    SETTING_OPTION = 1,   /* an option of the command line: --NAME */
    SETTING_JOB = 2,      /* a key of a job file's `options` */
    SETTING_VARIABLE = 4, /* a variable of the environment */
};

struct setting {
    const char *name;     /* name of the option and of the key: "max-instructions" */
    const char *variable; /* name of the environment variable: "HEDDLE_MAX_INSTRUCTIONS" */
    unsigned where;       /* bits SETTING_...: where the setting is available */
    const char *argument; /* the argument in usage texts: "BYTES", "stack|its" */
    const char *standard; /* the default, as help texts print it; NULL: not printed */
    const char *help;     /* the help text */
    bool (*read)(struct diags *d, struct piece value, struct settings *out);
};

/* Row i of the table; NULL: i is the number of rows. */
const struct setting *setting_at(size_t i);

/* The row with this name of an option or key; NULL: none. */
const struct setting *setting_find(const char *name, size_t length);

/* Parses the value and sets its member of *out. false: the error is in the diags, at the place of the value. Texts in
 * *out are valid as long as the arena of the diags. */
bool setting_read(const struct setting *s, struct diags *d, struct piece value,
                  struct settings *out);

/* Reads all settings from their environment variables; an empty variable counts as not given. false: `messages` has a
 * line for each wrong variable. Texts in *out are valid as long as the arena. */
bool settings_from_environment(struct settings *out, struct arena *a, struct buf *messages);

/* Reads a number of seconds above 0; `what` names the option in the error message. */
bool seconds_read(struct diags *d, const char *what, struct piece text, double *out);

#endif
