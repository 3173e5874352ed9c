/* Writes the page of `heddle report` as one HTML file (cli/page.h). */
#include "cli/page.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put_escaped(struct buf *b, const char *text)
{
    for (; *text; text++)
        if (*text == '<') buf_puts(b, "&lt;");
        else if (*text == '&') buf_puts(b, "&amp;");
        else buf_putc(b, *text);
}

/* gzip: the same bytes on every host, as the header has neither a time nor a system. */
static unsigned char *packed(const struct buf *plain, size_t *size)
{
    z_stream z = {0};
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    gz_header head = {.os = 255};
    (void)deflateSetHeader(&z, &head);
    const uLong bound = deflateBound(&z, plain->size) + 64;
    unsigned char *out = malloc(bound);
    if (!out || plain->size > UINT32_MAX) abort();
    z.next_in = (unsigned char *)plain->data, z.avail_in = (uInt)plain->size;
    z.next_out = out, z.avail_out = (uInt)bound;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END) abort();
    *size = z.total_out;
    (void)deflateEnd(&z);
    return out;
}

static const char policy[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n";

bool page_write(struct page *p, FILE *to)
{
    struct buf json = {0}, b = {0};
    size_t size;
    page_json(p, &json);
    unsigned char *bytes = packed(&json, &size);
    buf_puts(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    buf_puts(&b, policy);
    buf_puts(&b,
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    put_escaped(&b, "heddle report: ");
    put_escaped(&b, p->target);
    buf_puts(&b, "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n");
    buf_puts(&b, uplot_css);
    buf_puts(&b, page_css);
    buf_puts(&b, "</style>\n</head>\n<body>\n");
    buf_puts(&b, page_html);
    buf_puts(&b, "<script id=\"data\" type=\"text/plain\">\n");
    page_put_base64(&b, bytes, size);
    buf_puts(&b, "\n</script>\n<script>\n/* uPlot, https://github.com/leeoniya/uPlot\n\n");
    buf_puts(&b, uplot_license);
    buf_puts(&b, "*/\n");
    buf_puts(&b, uplot_js);
    buf_puts(&b, "</script>\n<script>\n");
    buf_puts(&b, page_js);
    buf_puts(&b, "</script>\n</body>\n</html>\n");
    const bool ok = fwrite(b.data, 1, b.size, to) == b.size;
    free(bytes);
    buf_free(&json);
    buf_free(&b);
    return ok;
}
