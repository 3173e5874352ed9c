#define _POSIX_C_SOURCE 200809L /* fileno */
#include "cli/file_steps.h"

#include "emu/trace_file.h"

#include <sys/stat.h>

enum { MEGABYTE = 1000000 };

/* trace_file.progress */
static void report_step(void *self, uint64_t at)
{
    struct file_steps *s = self;
    const size_t done = (size_t)(at / MEGABYTE);
    if (s->all) steps_tell(&s->steps, done < s->all ? done : s->all, s->all);
}

void file_steps_begin(struct file_steps *s, struct trace_file *in)
{
    struct stat about;
    *s = (struct file_steps){0};
    steps_begin(&s->steps, "MB read");
    if (fstat(fileno(in->file), &about) == 0 && S_ISREG(about.st_mode))
        s->all = ((size_t)about.st_size + MEGABYTE - 1) / MEGABYTE;
    in->progress = report_step, in->progress_self = s;
}

void file_steps_end(struct file_steps *s)
{
    steps_end(&s->steps);
}
