/* Watched memory: the first writes to a sum that many threads add to.
 *
 *     make
 *     cc -Iinclude examples/watch.c build/gcc-release/libheddle.a -lpcre2-8 -lzstd -lpthread -lm -o watch
 *     ./watch suites/ptx
 */
#include "heddle.h"

#include <stdio.h>
#include <string.h>

enum { N = 256 };

static void print(void *self, const struct heddle_write *w)
{
    unsigned *count = self;
    float before, after;
    memcpy(&before, w->before, sizeof before);
    memcpy(&after, w->after, sizeof after);
    if (w->kind != HEDDLE_WRITE_BY_HOST && ++*count <= 3)
        printf("thread %u of CTA %u, line %u: %s, %g to %g\n", w->thread[0], w->cta[0],
               w->source_line, w->operation ? w->operation : "store", (double)before,
               (double)after);
}

int main(int argc, char **argv)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/sum.ptx", argc > 1 ? argv[1] : "suites/ptx");
    struct heddle_module *m = heddle_module_read_file(path, NULL);
    struct heddle_device *d = heddle_device_new(NULL);
    if (!heddle_module_ok(m) || !heddle_device_load(d, &m, 1)) {
        fprintf(stderr, "%s%s\n", heddle_module_messages_text(m), heddle_device_error(d));
        return 1;
    }
    float in[N];
    unsigned count = 0;
    for (int i = 0; i < N; i++) in[i] = (float)(i + 1);
    const uint64_t args[] = {N, heddle_device_alloc(d, sizeof in, "in"),
                             heddle_device_alloc(d, 4, "sum")};
    heddle_device_write(d, args[1], in, sizeof in);
    if (!heddle_device_watch(d, args[2], 4, 1, print, &count)) return 1;
    heddle_device_launch(d, "sum_atomic", (uint32_t[]){1, 1, 1}, (uint32_t[]){N, 1, 1}, 0, args, 3);
    printf("%u writes\n", count);
    heddle_device_free(d);
    heddle_module_free(m);
    return 0;
}
