#include "cuda/run_events.h"

#include "base/buf.h"

#include <string.h>
#include <unistd.h>

static void write_all(int file, struct run_event *t)
{
    struct buf b = {0};
    t->name_size = strlen(t->name) + 1;
    t->text_size = strlen(t->text) + 1;
    buf_add(&b, (const char *)t, sizeof *t);
    buf_add(&b, t->name, t->name_size);
    buf_add(&b, t->text, t->text_size);
    for (size_t done = 0; done < b.size;) {
        const ssize_t n = write(file, b.data + done, b.size - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    buf_free(&b);
}

void run_event_launch(int file, const char *kernel, const struct emu_launch *l,
                      const struct emu_report *r)
{
    struct run_event t = {.name = kernel,
                          .text = r->fault.kind && r->fault.text ? r->fault.text : "",
                          .shared = l->shared,
                          .fault = r->fault.kind,
                          .line = r->fault.line,
                          .warp_instructions = r->warp_instructions,
                          .thread_instructions = r->thread_instructions,
                          .findings = r->finding_count,
                          .suppressed = r->suppressed,
                          .seconds = r->seconds};
    memcpy(t.grid, l->grid, sizeof t.grid);
    memcpy(t.block, l->block, sizeof t.block);
    memcpy(t.cluster, l->cluster, sizeof t.cluster);
    write_all(file, &t);
}

void run_event_message(int file, const char *text)
{
    write_all(file, &(struct run_event){.kind = RUN_EVENT_MESSAGE, .name = "", .text = text});
}

/* The bits of an element of at most 8 bytes. */
static uint64_t bits_of(const uint8_t *bytes, uint32_t width)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, width < sizeof bits ? width : sizeof bits);
    return bits;
}

void run_event_write(int file, const char *label, const char *type, const struct write *e)
{
    struct buf text = {0};
    struct run_event t = {.kind = RUN_EVENT_WRITE,
                          .name = e->kernel,
                          .write = {.address = e->address,
                                    .before = bits_of(e->before, e->width),
                                    .after = bits_of(e->after, e->width),
                                    .launch = e->launch,
                                    .kind = e->kind,
                                    .known = e->thread_known,
                                    .line = e->where.line,
                                    .source_line = e->where.source_line}};
    memcpy(t.write.cta, e->cta, sizeof e->cta);
    memcpy(t.write.thread, e->thread, sizeof e->thread);
    buf_printf(&text, "%s\n%s\n%s\n%s\n%s", label, type, e->op ? e->op : "",
               e->where.function ? e->where.function : "",
               e->where.source_file ? e->where.source_file : "");
    t.text = text.data;
    write_all(file, &t);
    buf_free(&text);
}

void run_event_writes_left_out(int file, uint64_t writes)
{
    write_all(file,
              &(struct run_event){
                  .kind = RUN_EVENT_WRITES_LEFT_OUT, .findings = writes, .name = "", .text = ""});
}

void run_event_write_texts(char *text, struct run_event_texts *out)
{
    char *parts[5];
    for (size_t i = 0; i < 5; i++) {
        parts[i] = text;
        text += strcspn(text, "\n");
        if (*text) *text++ = '\0';
    }
    *out = (struct run_event_texts){parts[0], parts[1], parts[2], parts[3], parts[4]};
}

void run_event_profile(int file, struct emu_profile *p)
{
    size_t n;
    const struct emu_profile_line *lines = emu_profile_lines(p, &n);
    for (size_t i = 0; i < n; i++)
        write_all(file, &(struct run_event){.kind = RUN_EVENT_PROFILE_LINE,
                                            .line_cost = lines[i],
                                            .name = lines[i].file,
                                            .text = ""});
}

bool run_event_next(const char *bytes, size_t size, size_t *at, struct run_event *out)
{
    size_t left = size - *at;
    if (left < sizeof *out) return false;
    memcpy(out, bytes + *at, sizeof *out);
    left -= sizeof *out;
    if (!out->name_size || out->name_size > left || !out->text_size ||
        out->text_size > left - out->name_size)
        return false;
    out->name = bytes + *at + sizeof *out;
    out->text = out->name + out->name_size;
    if (out->name[out->name_size - 1] || out->text[out->text_size - 1]) return false;
    out->line_cost.file = out->name;
    *at += sizeof *out + out->name_size + out->text_size;
    return true;
}
