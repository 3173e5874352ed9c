#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/ptx.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    unsigned max = 50; int bad = 0;
    if (argc > 1 && !strcmp(argv[1], "selfcheck")) { struct arena *a = arena_new(); const char *w = ptx_isa_self_check(a); puts(w ? w : "ok"); return w != NULL; }
    for (int i = 3; i < argc; i++) {
        if (!strncmp(argv[i], "--max-errors=", 13)) { max = (unsigned)atoi(argv[i] + 13); continue; }
        FILE *f = fopen(argv[i], "rb");
        if (!f) { perror(argv[i]); return 2; }
        fseek(f, 0, SEEK_END); long n = ftell(f); rewind(f);
        char *text = malloc((size_t)n + 1); if (fread(text, 1, (size_t)n, f) != (size_t)n) return 2; fclose(f);
        while (n > 0 && text[n-1] == 0) n--;
        struct arena *a = arena_new();
        struct source s = {argv[i], text, (uint32_t)n};
        struct diags d = {.arena = a, .source = &s, .max_errors = max};
        struct ptx_module *m = ptx_module_parse(a, &s, &d);
        if (!ptx_module_check(m)) bad = 1;
        ptx_module_end(m);
        struct buf b = {0};
        diags_render(&d, &b);
        if (b.data) fwrite(b.data, 1, b.size, stdout);
        buf_free(&b);
        arena_free(a); free(text);
    }
    return bad;
}
