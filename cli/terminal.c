/* Colours and progress on a terminal (terminal.h). */
#define _GNU_SOURCE /* strcasestr */
#include "cli/terminal.h"

#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } when; /* set once, before anything is printed */

bool terminal_colour_option(const char *value)
{
    static const char *const names[] = {"auto", "always", "never"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            when = i;
            return true;
        }
    return false;
}

bool terminal_colours(void)
{
    if (when != WHEN_AUTO) return when == WHEN_ALWAYS;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}

/* Black or white, whichever is better seen on the colour. */
static int ink(enum terminal_colour colour)
{
    const bool dark = colour == TERMINAL_BLUE || colour == TERMINAL_RED ||
                      colour == TERMINAL_PURPLE;
    return dark ? 231 : 16;
}

void terminal_bar(enum terminal_colour colour, char mark, int count)
{
    if (count <= 0) return;
    printf("\033[48;5;%d;38;5;%dm", colour, ink(colour));
    for (int i = 0; i < count; i++) putchar(mark);
    printf("\033[0m");
}

void terminal_begin(enum terminal_colour colour)
{
    if (terminal_colours()) printf("\033[1;38;5;%dm", colour);
}

void terminal_end(void)
{
    if (terminal_colours()) printf("\033[0m");
}

/* Whether the locale is UTF-8. (setlocale() would change how numbers are printed.) */
static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !(locale && *locale); i++)
        locale = getenv(names[i]);
    return locale && (strcasestr(locale, "UTF-8") || strcasestr(locale, "utf8"));
}

void terminal_spark(const double *values, size_t count)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
                             *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    enum { LEVELS = sizeof blocks / sizeof *blocks - 1 };
    const char *const *marks = is_utf8() ? blocks : ascii;
    double most = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i] > most) most = values[i];
    for (size_t i = 0; i < count; i++)
        fputs(marks[most > 0 && values[i] > 0 ? (int)ceil(values[i] / most * LEVELS) : 0], stdout);
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void steps_begin(struct steps *s, const char *unit)
{
    *s = (struct steps){.unit = unit, .began = now(), .wanted = isatty(STDERR_FILENO)};
}

void steps_text(struct buf *b, const char *unit, size_t done, size_t all, double seconds)
{
    buf_printf(b, "%zu of %zu %s, %.0f s", done, all, unit, seconds);
    if (done && done < all)
        buf_printf(b, ", about %.0f s left", seconds / (double)done * (double)(all - done));
}

void steps_tell(struct steps *s, size_t done, size_t all)
{
    const double t = now();
    struct buf b = {0};
    if (!s->wanted || t - s->began < 2 || t - s->printed < 0.2) return;
    s->printed = t;
    s->shown = true;
    steps_text(&b, s->unit, done, all, t - s->began);
    (void)fflush(stdout);
    fprintf(stderr, "\r%s\033[K", b.data);
    (void)fflush(stderr);
    buf_free(&b);
}

void steps_end(struct steps *s)
{
    if (s->shown) fputs("\r\033[K", stderr);
    s->shown = false;
}
