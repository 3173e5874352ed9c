/* session/settings.h: the settings of a run. One table names each of them for the command line (--memory 8G), for a
 * job file (memory: 8G) and for the environment of a CUDA program (HEDDLE_MEMORY=8G), and holds the one parser, the
 * default and the help text.
 *
 *     struct settings s = {0};
 *     const struct setting *x = setting_find("memory", 6);
 *     if (!setting_read(x, &diags, value, &s)) ...        // the message is in the diags
 *
 * `heddle run`, `heddle check`, the reader of job files and libcuda.so.1 use it. It does not open the files that a
 * setting names, but for those that say what a GPU is or which findings to suppress. */
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
    unsigned threads, sms; /* 0: the default */
    uint64_t memory;       /* bytes; 0: the default */
    uint64_t files_bytes;  /* likewise */
    uint64_t max_instructions;
    uint64_t seed;
    double timeout; /* seconds; 0: none */
    bool independent_threads, strict_stack;
    bool no_speculation, continue_after_faults;
    unsigned checks; /* EMU_CHECK_... */
    /* NULL: not given. */
    const char *order, *suppress, *gpu_name, *files;
    const struct emu_gpu *gpu; /* with gpu_name */
    const char *counts, *record, *replay, *watch;
};

enum {
    SETTING_OPTION = 1,   /* an option of the command line: --NAME */
    SETTING_JOB = 2,      /* a key of a job file's `options` */
    SETTING_VARIABLE = 4, /* a variable of the environment */
};

struct setting {
    const char *name;     /* of the option and the key: "max-instructions" */
    const char *variable; /* of the environment: "HEDDLE_MAX_INSTRUCTIONS" */
    unsigned where;       /* SETTING_... */
    const char *argument; /* as in the usage: "BYTES", "stack|its" */
    const char *standard; /* the default, in words; NULL: none is worth a word */
    const char *help;     /* sentences */
    bool (*read)(struct diags *d, struct piece value, struct settings *out);
};

/* NULL: there are no more. */
const struct setting *setting_at(size_t i);

/* By the name of the option or key; NULL: there is none. */
const struct setting *setting_find(const char *name, size_t length);

/* Reads the value. false: what is wrong is in the diags, at the value's place. Texts in `out` live as long as the
 * arena of the diags. */
bool setting_read(const struct setting *s, struct diags *d, struct piece value,
                  struct settings *out);

/* All settings that have a variable in the environment; an empty variable counts as not given. false: what is wrong
 * with which variable is in `messages`, as lines. Texts in `out` live as long as the arena. */
bool settings_from_environment(struct settings *out, struct arena *a, struct buf *messages);

/* Seconds, above 0; `what` names the option in the message. */
bool seconds_read(struct diags *d, const char *what, struct piece text, double *out);

#endif
