/* base/buf.h: a text buffer that grows as text is appended.
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
    char *data; /* NUL-terminated; NULL until the first byte is added */
    size_t size, cap;
};

void buf_add(struct buf *b, const char *text, size_t n);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_free(struct buf *b);

/* Appends the contents of a file. false: the file cannot be read, and errno has the error; EFBIG: the file has more than
 * `most` bytes. The bytes that were read before the error stay in the buffer. */
bool buf_add_file(struct buf *b, const char *path, size_t most);

#endif
