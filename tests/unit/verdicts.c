/* Small modules with the verdict of ptxas 13, recorded in tests/verdicts: Heddle must say the same. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cases on which Heddle knowingly differs, with the reason, one a line: FILE NAME # reason. */
static char *known;

static bool is_known(const char *file, const char *name)
{
    char line[256];
    int n = snprintf(line, sizeof line, "%s %s #", file, name);
    for (const char *p = known; (p = strstr(p, line)); p += n)
        if (p == known || p[-1] == '\n') return true;
    return false;
}

struct tally {
    size_t cases, wrong, excused;
};

static void run_case(const char *file, const char *name, bool accept, struct buf *text,
                     struct tally *t)
{
    struct parsed *p = parse_text(name, text->data, text->size);
    bool agrees = p->ok == accept;
    t->cases++;
    if (is_known(file, name)) {
        t->excused++;
        cr_expect(!agrees, "%s: %s agrees now: take it out of tests/verdicts/known.txt", file,
                  name);
    } else if (!agrees) {
        t->wrong++;
        cr_expect(agrees, "%s: %s: ptxas %s it, Heddle says: %s", file, name,
                  accept ? "accepts" : "rejects", p->ok ? "fine" : first_error(p));
    }
    parsed_free(p);
}

static void run_file(const char *path, void *arg)
{
    size_t length;
    char *text = read_file(path, &length), name[128] = "";
    const char *file = strrchr(path, '/') + 1;
    struct buf prologue = {0}, module = {0};
    bool in_prologue = false, accept = false;
    for (char *line = text, *end = text + length, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        if (strncmp(line, "//// ", 5) != 0) {
            buf_add(in_prologue ? &prologue : &module, line, (size_t)(next - line));
            continue;
        }
        if (name[0]) run_case(file, name, accept, &module, arg);
        char verdict[16] = "";
        name[0] = '\0';
        in_prologue = strncmp(line, "//// prologue", 13) == 0;
        if (in_prologue) {
            prologue.size = 0;
            continue;
        }
        sscanf(line, "//// %127[^:]: %15s", name, verdict);
        accept = strcmp(verdict, "accept") == 0;
        cr_assert(accept || strcmp(verdict, "reject") == 0, "%s: %.*s", path, (int)(next - line),
                  line);
        module.size = 0;
        if (prologue.size) buf_add(&module, prologue.data, prologue.size);
    }
    if (name[0]) run_case(file, name, accept, &module, arg);
    buf_free(&prologue);
    buf_free(&module);
    free(text);
}

Test(verdicts, agree_with_ptxas, .timeout = 120)
{
    struct tally t = {0};
    size_t n;
    known = read_file("tests/verdicts/known.txt", &n);
    cr_assert(each_file("tests/verdicts", ".cases", run_file, &t) > 0);
    printf("%zu cases, %zu disagree, %zu known\n", t.cases, t.wrong, t.excused);
    free(known);
}
