#define _DEFAULT_SOURCE /* scandir */
#include "tests/support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parsed *parse_text(const char *name, const char *text, size_t length)
{
    struct parsed *p = calloc(1, sizeof *p);
    p->arena = arena_new();
    p->source = (struct source){name, text, (uint32_t)length};
    p->diags = (struct diags){.arena = p->arena, .source = &p->source};
    p->module = ptx_module_parse(p->arena, &p->source, &p->diags);
    p->ok = ptx_module_check(p->module);
    ptx_module_end(p->module);
    return p;
}

void parsed_free(struct parsed *p)
{
    arena_free(p->arena);
    free(p);
}

const char *first_error(struct parsed *p)
{
    diags_sort(&p->diags);
    for (size_t i = 0; i < p->diags.count; i++)
        if (p->diags.list[i].kind == DIAG_ERROR) return p->diags.list[i].text;
    return "";
}

char *read_file(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        abort();
    }
    fseek(f, 0, SEEK_END);
    *length = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*length + 1);
    if (fread(text, 1, *length, f) != *length) abort();
    text[*length] = '\0';
    fclose(f);
    return text;
}

size_t each_file(const char *folder, const char *ending, void (*f)(const char *path, void *arg),
                 void *arg)
{
    struct dirent **list;
    int n = scandir(folder, &list, NULL, alphasort);
    size_t count = 0, end = strlen(ending);
    for (int i = 0; i < n; i++) {
        char path[4096];
        size_t length = strlen(list[i]->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        if (length > end && strcmp(list[i]->d_name + length - end, ending) == 0) {
            f(path, arg);
            count++;
        }
        free(list[i]);
    }
    if (n >= 0) free(list);
    return count;
}
