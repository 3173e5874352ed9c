/* base/buf.h: text that grows at its end.
 *
 *     struct buf b = {0};
 *     buf_printf(&b, "%d errors\n", n);
 *     fwrite(b.data, 1, b.size, stdout);
 *     buf_free(&b);                                                                              */
#ifndef HEDDLE_BASE_BUF_H
#define HEDDLE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* NUL behind the last byte once anything was added; NULL before */
    size_t size, cap;
};

void buf_add(struct buf *b, const char *text, size_t n);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_free(struct buf *b);

/* Appends what a file holds. false: errno says why it cannot be read; EFBIG: it has more than `most` bytes. What was
 * read until then stays. */
bool buf_add_file(struct buf *b, const char *path, size_t most);

#endif
