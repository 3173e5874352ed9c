/* Last writers, from the process that watched to the one that tells. */
#include "cli/check_part.h"
#include "cli/check_record.h"

#include "base/arena.h"
#include "base/buf.h"

#include <string.h>
#include <unistd.h>

/* A record with the strings of a struct writer behind it. */
struct head {
    uint64_t begin, digest, words;
    struct writer writer; /* its pointers say only whether there is a text */
};

static void put_text(struct buf *b, const char *text)
{
    if (text) buf_add(b, text, strlen(text) + 1);
}

void part_write_writers(struct writers *w, const uint64_t *words, size_t n, uint64_t first,
                        uint64_t digest, int file)
{
    struct buf b = {0};
    const struct writer *last = writers_last(w, first);
    struct head head = {.begin = RECORD_BEGIN, .digest = digest, .words = n, .writer = *last};
    (void)words;
    buf_add(&b, (const char *)&head, sizeof head);
    for (size_t i = 0; i < n; i++) {
        struct writers_word word = writers_words(w)[i];
        word.type = NULL;
        buf_add(&b, (const char *)&word, sizeof word);
    }
    put_text(&b, last->op);
    put_text(&b, last->type);
    put_text(&b, last->function);
    put_text(&b, last->source_file);
    for (size_t done = 0; done < b.size;) {
        ssize_t k = write(file, b.data + done, b.size - done);
        if (k <= 0) _exit(1);
        done += (size_t)k;
    }
    buf_free(&b);
}

static const char *text(const char **at, const char *end, const char *there)
{
    if (!there) return NULL;
    const char *from = *at, *nul = memchr(from, 0, (size_t)(end - from));
    if (!nul) return "";
    *at = nul + 1;
    return from;
}

bool part_read_writers(struct arena *a, int file, uint64_t digest, struct check_parting *p,
                       int side)
{
    size_t size;
    struct head head;
    if (file < 0) return false;
    const char *all = check_file_read(a, file, &size), *end = all + size, *at = all + sizeof head;
    if (size < sizeof head) return false;
    memcpy(&head, all, sizeof head);
    if (head.begin != RECORD_BEGIN || head.digest != digest || head.words != p->word_count ||
        size < sizeof head + p->word_count * sizeof(struct writers_word))
        return false;
    for (size_t i = 0; i < p->word_count; i++, at += sizeof(struct writers_word)) {
        struct writers_word w;
        memcpy(&w, at, sizeof w);
        p->words[i].adds[side] = w.adds;
        p->words[i].others[side] = w.others;
        p->words[i].size[side] = w.size;
    }
    struct writer *w = &p->side[side].writer;
    *w = head.writer;
    w->op = text(&at, end, w->op);
    w->type = text(&at, end, w->type);
    w->function = text(&at, end, w->function);
    w->source_file = text(&at, end, w->source_file);
    return p->side[side].known = true;
}
