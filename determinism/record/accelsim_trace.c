/* Traces for Accel-Sim (accelsim_trace.h). */
#define _POSIX_C_SOURCE 200809L
#include "determinism/record/accelsim_trace.h"

#include "base/buf.h"
#include "emu/machine_code.h"
#include "emu/memory.h"
#include "emu/order.h"
#include "emu/trace_events.h"
#include "ptx/ptx.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    REGISTERS = 255,       /* R255 is the register that is always 0 */
    REGISTER_FILE = 65536, /* of an SM of Volta */
    SASS_BYTES = 16,       /* of an instruction of Volta */
    OPERANDS = 4
};

struct pending { /* an instruction whose accesses are not known yet */
    bool any, accesses;
    uint32_t pc, lanes, bytes;
    uint8_t space, kind;
    uint64_t address[32];
};
struct warp_lines {
    struct buf text;
    uint64_t count;
    struct pending now;
};
struct cta_lines {
    uint32_t cta;
    struct warp_lines *warps;
    struct cta_lines *next;
};

struct accelsim_trace {
    struct emu_observer observer;
    char *folder;
    uint32_t first, last, launch, stream;
    FILE *list, *file; /* NULL: not open; of the launch: it is not written */
    struct cta_lines *ctas, *cached;
    struct trace_launch now;
    uint8_t *own;            /* of `now` */
    uint32_t warps, threads; /* of a CTA */
    char *wrong;
};

/* ---- opcodes ---------------------------------------------------------------------------------------------------------- */

enum kind { KIND_ANY, KIND_INT, KIND_F16, KIND_F32, KIND_F64 };

static enum kind kind_of(const struct ptx_op *op)
{
    const struct ptx_type_info *t = op->type_count ? &ptx_types[op->type[0]] : NULL;
    if (!t) return KIND_ANY;
    if (t->kind != PTX_FLOAT) return KIND_INT;
    return t->bits == 64 ? KIND_F64 : t->bits == 32 ? KIND_F32 : KIND_F16;
}

static const char *opcode_of(const struct ptx_op *op)
{
    static const struct {
        const char *name;
        enum kind kind;
        const char *opcode;
    } names[] = {
#define NAME(name, kind, opcode) {name, KIND_##kind, opcode},
#define CLASS(cost, opcode)
#include "determinism/record/accelsim.def"
    };
    static const char *const classes[PTX_COST_COUNT] = {
#define NAME(name, kind, opcode)
#define CLASS(cost, opcode) [PTX_COST_##cost] = opcode,
#include "determinism/record/accelsim.def"
    };
    if (!op) return "NOP";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, op->form->name) == 0 &&
            (names[i].kind == KIND_ANY || names[i].kind == kind_of(op)))
            return names[i].opcode;
    return classes[op->form->cost];
}

/* "LDG.E.64". NULL: it does not access such a state space as Accel-Sim simulates. */
static const char *access_opcode(const struct pending *p, bool result, char text[32])
{
    static const char *const widths[] = {"", ".U8", ".U16", "", "", "", "", "", ".64"};
    static const char *const opcodes[][3] = {{"LDG.E", "LDS", "LDL"},
                                             {"STG.E", "STS", "STL"},
                                             {"ATOMG.E", "ATOMS", NULL},
                                             {"RED.E", "ATOMS", NULL}};
    const int space = p->space == PTX_SPACE_GLOBAL   ? 0
                      : p->space == PTX_SPACE_SHARED ? 1
                      : p->space == PTX_SPACE_LOCAL  ? 2
                                                     : -1;
    const uint32_t kind = p->kind == EMU_ATOMIC && !result ? (uint32_t)EMU_RED : p->kind;
    if (space < 0 || !opcodes[kind][space]) return NULL;
    snprintf(text, 32, "%s%s", opcodes[kind][space],
             p->bytes > 8    ? ".128"
             : p->bytes <= 8 ? widths[p->bytes]
                             : "");
    return text;
}

/* ---- lines -------------------------------------------------------------------------------------------------------------- */

static void put_register(struct accelsim_trace *t, struct buf *b, uint32_t at)
{
    buf_printf(b, "R%u ", t->now.regs[at] % REGISTERS);
}

/* The addresses: of lanes with one stride the first and the stride, else all. */
static void put_addresses(struct buf *b, const struct pending *p)
{
    const uint32_t first = p->lanes ? (uint32_t)__builtin_ctz(p->lanes) : 0,
                   run = p->lanes >> first;
    bool regular = run && (run & (run + 1)) == 0;
    int64_t stride = run > 1 ? (int64_t)(p->address[first + 1] - p->address[first]) : 0;
    for (uint32_t l = first; regular && l < 31 && p->lanes >> (l + 1) & 1; l++)
        regular = (int64_t)(p->address[l + 1] - p->address[l]) == stride;
    if (stride > INT32_MAX || stride < INT32_MIN) regular = false;
    if (regular) {
        buf_printf(b, "1 0x%" PRIx64 " %" PRId64 " ", p->address[first], stride);
        return;
    }
    buf_puts(b, "0 ");
    for (uint32_t m = p->lanes; m; m &= m - 1)
        buf_printf(b, "0x%016" PRIx64 " ", p->address[__builtin_ctz(m)]);
}

/* A warp ends with one EXIT of all its lanes. Where lanes return before, by a guard or a branch, is a branch: Accel-Sim
 * takes an EXIT for the end of all lanes in its mask, and which lanes a guard lets return is not known here. */
static const char *return_opcode(struct accelsim_trace *t, struct pending *p, const char *opcode,
                                 uint32_t all)
{
    const bool exit = strcmp(opcode, "EXIT") == 0,
               kernel = strcmp(opcode, "RET") == 0 && t->now.own[p->pc];
    if (!exit && !kernel) return opcode;
    if (!all) return "BRA";
    p->lanes = all;
    return "EXIT";
}

/* `all`: the lanes of the warp, if it is its last instruction; else 0. */
static void put_pending(struct accelsim_trace *t, struct warp_lines *w, uint32_t all)
{
    struct pending *p = &w->now;
    if (!p->any) return;
    p->any = false;
    const struct trace_inst *i = &t->now.insts[p->pc];
    const uint32_t sources = i->reads < OPERANDS ? i->reads : OPERANDS;
    char text[32];
    const char *opcode = p->accesses ? access_opcode(p, i->writes && !i->dead_result, text) : NULL;
    const bool memory = opcode;
    if (!opcode) opcode = i->op && i->op->form->cost == PTX_COST_MEMORY ? "LDC" : opcode_of(i->op);
    opcode = return_opcode(t, p, opcode, all);
    buf_printf(&w->text, "%04x %08x %u ", p->pc * SASS_BYTES, p->lanes, i->writes > 0);
    if (i->writes) put_register(t, &w->text, i->reg + i->reads);
    buf_printf(&w->text, "%s %u ", opcode, sources);
    for (uint32_t k = 0; k < sources; k++) put_register(t, &w->text, i->reg + k);
    buf_printf(&w->text, "%u ", memory ? p->bytes : 0);
    if (memory) put_addresses(&w->text, p);
    buf_putc(&w->text, '\n');
    w->count++;
}

/* ---- files -------------------------------------------------------------------------------------------------------------- */

static void fail(struct accelsim_trace *t, const char *name)
{
    struct buf b = {0};
    if (t->wrong) return;
    buf_printf(&b, "'%s/%s': %s", t->folder, name, strerror(errno));
    t->wrong = b.data;
}

static FILE *open_file(struct accelsim_trace *t, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", t->folder, name);
    FILE *f = fopen(path.data, "wbe");
    if (!f) fail(t, name);
    buf_free(&path);
    return f;
}

static void close_file(struct accelsim_trace *t, FILE **f, const char *name)
{
    if (*f && (ferror(*f) | fclose(*f)) != 0) fail(t, name);
    *f = NULL;
}

static void write_cta(struct accelsim_trace *t, struct cta_lines *c)
{
    const uint32_t *grid = t->now.grid;
    fprintf(t->file, "\n#BEGIN_TB\n\nthread block = %u,%u,%u\n", c->cta % grid[0],
            c->cta / grid[0] % grid[1], c->cta / grid[0] / grid[1]);
    for (uint32_t w = 0; w < t->warps; w++) {
        const uint32_t left = t->threads - 32 * w;
        put_pending(t, &c->warps[w], left < 32 ? (1u << left) - 1 : ~0u);
        fprintf(t->file, "\nwarp = %u\ninsts = %" PRIu64 "\n", w, c->warps[w].count);
        (void)fwrite(c->warps[w].text.data, 1, c->warps[w].text.size, t->file);
        buf_free(&c->warps[w].text);
    }
    fprintf(t->file, "\n#END_TB\n");
    free(c->warps);
    free(c);
}

static void write_head(struct accelsim_trace *t)
{
    const struct trace_launch *l = &t->now;
    const uint32_t ctas = l->sms && l->slots >= l->sms ? l->slots / l->sms : 1,
                   registers = REGISTER_FILE / (ctas * t->warps * 32);
    fprintf(t->file, "-kernel name = %s\n-kernel id = %u\n", l->kernel, l->number + 1);
    fprintf(t->file, "-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n", l->grid[0], l->grid[1],
            l->grid[2], l->block[0], l->block[1], l->block[2]);
    fprintf(t->file, "-shmem = %u\n-nregs = %u\n-binary version = 70\n-cuda stream id = %u\n",
            l->shared, registers < REGISTERS ? registers : REGISTERS, t->stream);
    fprintf(t->file,
            "-shmem base_addr = 0x%016" PRIx64 "\n-local mem base_addr = 0x%016" PRIx64 "\n",
            (uint64_t)MEM_SHARED, (uint64_t)MEM_LOCAL);
    fprintf(t->file, "-nvbit version = none (from PTX, no SASS)\n-accelsim tracer version = 3\n\n");
    fprintf(t->file,
            "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
            "[adrrescompress?] [mem_addresses]\n");
}

/* ---- the observer --------------------------------------------------------------------------------------------------------- */

static struct warp_lines *lines_of(struct accelsim_trace *t, const struct emu_warp *who)
{
    struct cta_lines *c = t->cached;
    if (!c || c->cta != who->cta)
        for (c = t->ctas; c && c->cta != who->cta;) c = c->next;
    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c || !(c->warps = calloc(t->warps, sizeof *c->warps))) abort();
        c->cta = who->cta;
        c->next = t->ctas;
        t->ctas = c;
    }
    t->cached = c;
    return &c->warps[who->warp];
}

static void accelsim_on_issue(void *self, const struct emu_warp *who, uint32_t pc, uint32_t lanes)
{
    struct accelsim_trace *t = self;
    if (!t->file) return;
    struct warp_lines *w = lines_of(t, who);
    put_pending(t, w, 0);
    w->now = (struct pending){.any = true, .pc = pc, .lanes = lanes};
}

/* The first access of an instruction is written; further ones, in another state space, are left out. */
static void accelsim_on_access(void *self, const struct emu_access *a)
{
    struct accelsim_trace *t = self;
    if (!t->file || a->retry) return;
    struct pending *p = &lines_of(t, a->who)->now;
    if (!p->any || p->pc != a->pc || p->accesses) return;
    p->accesses = true;
    p->lanes = a->lanes;
    p->bytes = (uint32_t)a->width * a->count;
    p->space = a->space, p->kind = a->kind;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        p->address[l] = a->contiguous ? a->address[0] + (uint64_t)l * p->bytes : a->address[l];
    }
}

static void accelsim_on_sync(void *self, const struct emu_sync *s)
{
    struct accelsim_trace *t = self;
    if (!t->file || s->kind != EMU_SYNC_CTA_EXIT) return;
    for (struct cta_lines **at = &t->ctas; *at; at = &(*at)->next)
        if ((*at)->cta == s->who->cta) {
            struct cta_lines *c = *at;
            *at = c->next;
            t->cached = NULL;
            write_cta(t, c);
            return;
        }
}

static bool begin_launch(struct accelsim_trace *t, uint32_t number)
{
    char name[64];
    t->launch = number + 1;
    if (number < t->first || number > t->last) return false;
    snprintf(name, sizeof name, "kernel-%u.traceg", t->launch);
    if (!t->list) t->list = open_file(t, "kernelslist.g");
    t->file = t->list ? open_file(t, name) : NULL;
    if (t->file) fprintf(t->list, "%s\n", name);
    return t->file;
}

static void begin_file(struct accelsim_trace *t)
{
    t->warps = trace_launch_warps(&t->now);
    t->threads = trace_launch_threads(&t->now);
    write_head(t);
}

static void accelsim_on_begin(void *self, struct emu_machine *m)
{
    struct accelsim_trace *t = self;
    const uint32_t number = t->launch;
    if (!begin_launch(t, number)) return;
    free(t->own);
    t->now = trace_launch_of(m, number, t->stream, &t->own);
    begin_file(t);
}

void accelsim_trace_launch(struct accelsim_trace *t, const struct trace_launch *l)
{
    t->stream = l->stream;
    t->now = *l;
    if (begin_launch(t, l->number)) begin_file(t);
}

static void accelsim_on_end(void *self)
{
    struct accelsim_trace *t = self;
    char name[64];
    snprintf(name, sizeof name, "kernel-%u.traceg", t->launch);
    while (t->ctas) { /* of a launch that ended early */
        struct cta_lines *c = t->ctas;
        t->ctas = c->next;
        write_cta(t, c);
    }
    t->cached = NULL;
    close_file(t, &t->file, name);
}

/* ---- life --------------------------------------------------------------------------------------------------------------------- */

struct accelsim_trace *accelsim_trace_new(const char *folder, uint32_t first, uint32_t last)
{
    struct accelsim_trace *t = calloc(1, sizeof *t);
    if (!t || !(t->folder = strdup(folder))) abort();
    t->first = first, t->last = last;
    t->observer = (struct emu_observer){
        .self = t,
        .ignores_data = true,
        .not_nested = "in traces for Accel-Sim, whose kernels wait for none",
        .begin = accelsim_on_begin,
        .issue = accelsim_on_issue,
        .access = accelsim_on_access,
        .sync = accelsim_on_sync,
        .end = accelsim_on_end};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) fail(t, "");
    return t;
}

void accelsim_trace_stream(struct accelsim_trace *t, uint32_t stream)
{
    t->stream = stream;
}

const struct emu_observer *accelsim_trace_observer(struct accelsim_trace *t)
{
    return &t->observer;
}

char *accelsim_trace_end(struct accelsim_trace *t)
{
    char *wrong;
    close_file(t, &t->list, "kernelslist.g");
    wrong = t->wrong;
    free(t->own);
    free(t->folder);
    free(t);
    return wrong;
}
