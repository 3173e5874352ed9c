/* The file of last writers: numbers, then the texts of a struct last_writer. A child process of
 * `heddle check` writes it, the parent reads it. */
#define _POSIX_C_SOURCE 200809L
#include "determinism/record/last_writers.h"

#include "base/arena.h"
#include "base/buf.h"

#include <string.h>
#include <unistd.h>

#define WRITERS UINT64_C(0x486564646c653032) /* at the beginning */

struct head {
    uint64_t begin, digest, words;
    struct last_writer writer; /* its pointers say only whether there is a text */
};

static void put_text(struct buf *b, const char *text)
{
    if (text) buf_add(b, text, strlen(text) + 1);
}

bool last_writers_write(struct last_writers *w, uint64_t address, uint64_t digest, int file,
                        uint64_t from)
{
    struct buf b = {0};
    const struct last_writer *last = last_writers_of_byte(w, address);
    const size_t n = last_writers_count(w);
    const struct head head = {.begin = WRITERS, .digest = digest, .words = n, .writer = *last};
    buf_add(&b, (const char *)&head, sizeof head);
    for (size_t i = 0; i < n; i++) {
        struct word_writes word = last_writers_words(w)[i];
        word.type = NULL;
        buf_add(&b, (const char *)&word, sizeof word);
    }
    put_text(&b, last->op);
    put_text(&b, last->type);
    put_text(&b, last->function);
    put_text(&b, last->source_file);
    size_t done = 0;
    for (ssize_t k = 1; done < b.size && k > 0; done += k > 0 ? (size_t)k : 0)
        k = pwrite(file, b.data + done, b.size - done, (off_t)(from + done));
    const bool ok = done == b.size;
    buf_free(&b);
    return ok;
}

static const char *text(const char **at, const char *end, const char *there)
{
    if (!there) return NULL;
    const char *from = *at, *nul = memchr(from, 0, (size_t)(end - from));
    if (!nul) return "";
    *at = nul + 1;
    return from;
}

bool last_writers_read(struct arena *a, const char *bytes, size_t size,
                       struct last_writers_file *out)
{
    struct head head;
    if (size < sizeof head) return false;
    memcpy(&head, bytes, sizeof head);
    if (head.begin != WRITERS || head.words > (size - sizeof head) / sizeof *out->words)
        return false;
    const char *at = bytes + sizeof head, *end = bytes + size;
    out->digest = head.digest;
    out->word_count = (size_t)head.words;
    out->words = arena_array(a, struct word_writes, out->word_count);
    memcpy(out->words, at, out->word_count * sizeof *out->words);
    at += out->word_count * sizeof *out->words;
    struct last_writer *w = &out->last;
    *w = head.writer;
    w->op = text(&at, end, w->op);
    w->type = text(&at, end, w->type);
    w->function = text(&at, end, w->function);
    w->source_file = text(&at, end, w->source_file);
    return true;
}
