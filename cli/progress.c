#define _POSIX_C_SOURCE 200809L /* isatty */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *p)
{
    *p = (struct progress){.wanted = isatty(STDERR_FILENO)};
}

/* heddle_device_options.progress */
static void print_line(void *self, uint64_t warp_instructions, double seconds)
{
    struct progress *p = self;
    double all = p->seconds + seconds, done = (double)(p->instructions + warp_instructions);
    if (all < 1) return;
    (void)fflush(stdout);
    fprintf(stderr, "\r%.0f s", all);
    if (p->launches) fprintf(stderr, ", launch %" PRIu64, p->launches + 1);
    fprintf(stderr, ", %.1f million warp instructions, %.1f million/s \033[K", done * 1e-6,
            done * 1e-6 / all);
    (void)fflush(stderr);
    p->shown = true;
    p->printed_at = all;
}

void progress_set_up(struct progress *p, struct heddle_device_options *device)
{
    if (!p->wanted) return;
    device->progress = print_line;
    device->progress_self = p;
}

void progress_launch(struct progress *p, uint64_t warp_instructions, double seconds)
{
    p->launches++;
    p->instructions += warp_instructions;
    p->seconds += seconds;
    if (p->wanted && p->seconds - p->printed_at > 0.2) print_line(p, 0, 0); /* of many short ones */
}

void progress_clear(struct progress *p)
{
    if (!p || !p->shown) return;
    fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    p->shown = false;
}
