/* See tests/support/programs.h. */
#define _GNU_SOURCE
#include "tests/support/programs.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char folder[] = "/tmp/heddle-program-XXXXXX";
struct buf said;

int sh(const char *format, ...)
{
    char command[4096], chunk[4096];
    int n = snprintf(command, sizeof command, "exec 2>&1; cd '%s' || exit; ", folder);
    size_t got;
    va_list args;
    va_start(args, format);
    vsnprintf(command + n, sizeof command - (size_t)n, format, args);
    va_end(args);
    said.size = 0;
    FILE *f = popen(command, "r");
    cr_assert(f);
    while ((got = fread(chunk, 1, sizeof chunk, f)) > 0) buf_add(&said, chunk, got);
    buf_putc(&said, '\0');
    const int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void program_start(void)
{
    cr_assert(mkdtemp(folder));
}

void program_stop(void)
{
    sh("rm -r '%s'", folder);
    buf_free(&said);
}

char heddle[500], libraries[500], here[400];

/* Where they are; a library that is not there, or sanitized, serves no program. */
void program_start_runs(void)
{
    const char *name = getenv("HEDDLE");
    program_start();
    cr_assert(getcwd(here, sizeof here));
    if (SANITIZED) cr_skip_test("sanitized libraries serve sanitized programs alone");
    snprintf(heddle, sizeof heddle, "%s/%s", here, name ? name : "heddle");
    snprintf(libraries, sizeof libraries, "%s/%.*s", here,
             name ? (int)(strrchr(name, '/') - name) : 17, name ? name : "build/gcc-release");
    if (access(heddle, X_OK) != 0 || sh("test -r '%s/libcudart.so.13'", libraries) != 0)
        cr_skip_test("libcudart.so.13 is not built");
}

void expect_output(const char *part)
{
    cr_expect(strstr(said.data, part), "no '%s' in %s", part, said.data);
}

size_t times(const char *text)
{
    size_t n = 0;
    for (const char *at = said.data; (at = strstr(at, text)); at++) n++;
    return n;
}

void write_file(const char *name, const char *text, size_t size)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(text, 1, size, f) == size && fclose(f) == 0);
}

void build_on_driver(const char *name, const char *source)
{
    static const char head[] = "#define _GNU_SOURCE\n#include \"cuda/cuda_api.h\"\n"
                               "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                               "#include <unistd.h>\n#line 1\n";
    char file[100];
    struct buf b = {0};
    buf_puts(&b, head);
    buf_puts(&b, source);
    snprintf(file, sizeof file, "%s.c", name);
    write_file(file, b.data, b.size);
    buf_free(&b);
    cr_assert_eq(sh("cc -g -I'%s' -o %s %s.c -Wl,-rpath-link,'%s' '%s/libcuda.so.1' -lpthread",
                    here, name, name, libraries, libraries),
                 0, "%s", said.data);
}
