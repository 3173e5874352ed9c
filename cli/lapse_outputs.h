/* cli/lapse_outputs.h: the outputs of `heddle report`; each is a sink for launches (cli/lapse.h).
 *
 *     struct lapse_file f = {0};
 *     if (replacement_open(&f.file, path)) sink = lapse_csv(&f);
 *     ... lapse_read(...) ...
 *     sink.finish ... lapse_file_close(&f);
 *
 * Each output has a source file of its own (cli/lapse_csv.c, ...), which describes the format and the programs that read it. */
#ifndef HEDDLE_CLI_LAPSE_OUTPUTS_H
#define HEDDLE_CLI_LAPSE_OUTPUTS_H

#include "base/replace.h"
#include "cli/lapse.h"

struct buf;

struct lapse_file {
    struct replacement file;
    bool failed;      /* a write has failed */
    uint64_t written; /* number of bytes */
    /* Private to each output. */
    uint32_t items;
    double at;
    void *own;
};
/* Writes the contents of the buffer, and frees it. */
void lapse_file_add(struct lapse_file *f, struct buf *b);

struct lapse_sink lapse_csv(struct lapse_file *f);
struct lapse_sink lapse_svg(struct lapse_file *f);
struct lapse_sink lapse_perfetto(struct lapse_file *f);
struct lapse_sink lapse_chrome(struct lapse_file *f);
struct lapse_sink lapse_aerialvision(struct lapse_file *f); /* gzip */
struct lapse_sink lapse_konata(struct lapse_file *f);       /* needs lapse_source.issues */
/* Write the end of the file, behind the last launch. */
void lapse_svg_end(struct lapse_file *f);
void lapse_chrome_end(struct lapse_file *f);
void lapse_aerialvision_end(struct lapse_file *f);

#endif
