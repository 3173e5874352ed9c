/* cli/lapse_outputs.h: the outputs of `heddle report`, each a sink for launches (cli/lapse.h).
 *
 *     struct lapse_file f = {0};
 *     if (replacement_open(&f.file, path)) sink = lapse_csv(&f);
 *     ... lapse_read(...) ...
 *     sink.finish ... lapse_file_close(&f);
 *
 * Each output is in a file of its own (cli/lapse_csv.c, ...), which says what the format is and who reads it. */
#ifndef HEDDLE_CLI_LAPSE_OUTPUTS_H
#define HEDDLE_CLI_LAPSE_OUTPUTS_H

#include "base/replace.h"
#include "cli/lapse.h"

struct buf;

struct lapse_file {
    struct replacement file;
    bool failed;      /* something could not be written */
    uint64_t written; /* bytes */
    /* for the outputs' own use */
    uint32_t items;
    double at;
    void *own;
};
/* Writes and frees what the buffer has. */
void lapse_file_add(struct lapse_file *f, struct buf *b);

struct lapse_sink lapse_csv(struct lapse_file *f);
struct lapse_sink lapse_svg(struct lapse_file *f);
struct lapse_sink lapse_perfetto(struct lapse_file *f);
struct lapse_sink lapse_chrome(struct lapse_file *f);
struct lapse_sink lapse_aerialvision(struct lapse_file *f); /* gzip */
struct lapse_sink lapse_konata(struct lapse_file *f);       /* needs lapse_source.issues */
/* What is behind the last launch. */
void lapse_svg_end(struct lapse_file *f);
void lapse_chrome_end(struct lapse_file *f);
void lapse_aerialvision_end(struct lapse_file *f);

#endif
