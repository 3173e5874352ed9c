/* Traces for Accel-Sim (determinism/record/accelsim_trace.h), read by a reader that is written from the description of the
 * format in the README of its tracer: columns "PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width
 * [address format] [addresses]", grouped by thread block and warp. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/record/access_trace.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "ptx/ptx.h"
#include "tests/support/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(accelsim, .init = command_enter, .fini = command_leave, .timeout = 60);

/* 48 threads: a warp of 32 lanes and one of 16. Odd threads return first; lane l of the others loads 8 bytes at p + 8 l,
 * iterates l / 16 + 1 times, stores 4 bytes to shared memory, and adds to one word. Of `idle` every thread returns. */
static const char text[] =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry work(.param .u64 p)\n{\n"
    ".reg .pred %q<3>; .reg .b32 %r<6>; .reg .b64 %d<6>; .shared .u32 s[64];\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; bar.sync 0;\n"
    "and.b32 %r2, %r1, 1; setp.ne.u32 %q1, %r2, 0; @%q1 ret;\n"
    "mul.wide.u32 %d2, %r1, 8; add.u64 %d2, %d1, %d2; ld.global.u64 %d3, [%d2];\n"
    "shr.u32 %r3, %r1, 4;\n"
    "again: sub.u32 %r3, %r3, 1; setp.ge.s32 %q2, %r3, 0; @%q2 bra again;\n"
    "mov.u32 %r4, s; shl.b32 %r5, %r1, 2; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], %r1;\n"
    "red.global.add.u32 [%d1+4096], 1;\n"
    "ret;\n}\n"
    ".visible .entry idle()\n{ ret; }\n";

struct line {
    uint32_t pc, mask, dests, sources, width, reg[5];
    char opcode[32];
    uint64_t address[32];
};
struct reading {
    uint32_t grid[3], block[3], id, version, blocks, warps, exits;
    uint64_t lines;
    char name[64];
    struct line last[512];
};
static struct reading reading;

static const char *number(const char *p, const char *format, void *to)
{
    int n = 0;
    char whole[16];
    snprintf(whole, sizeof whole, "%s%%n", format);
    cr_assert(sscanf(p, whole, to, &n) == 1, "'%s' in '%.60s'", format, p);
    return p + n;
}

static void read_addresses(const char *p, struct line *l)
{
    uint32_t mode;
    p = number(p, "%u", &mode);
    cr_assert(mode < 2);
    uint64_t base = 0;
    long stride = 0;
    if (mode == 1) p = number(number(p, "%lx", &base), "%ld", &stride);
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(l->mask >> lane & 1)) continue;
        if (mode == 0) p = number(p, "%lx", &l->address[lane]);
        else l->address[lane] = base, base += (uint64_t)stride;
    }
    cr_expect(strspn(p, " \n") == strlen(p), "left: '%s'", p);
}

static void read_line(const char *p, struct line *l)
{
    *l = (struct line){0};
    p = number(number(number(p, "%x", &l->pc), "%x", &l->mask), "%u", &l->dests);
    cr_assert(l->dests <= 1);
    if (l->dests) p = number(p, " R%u", &l->reg[4]);
    p = number(p, "%31s", l->opcode);
    p = number(p, "%u", &l->sources);
    cr_assert(l->sources <= 4);
    for (uint32_t i = 0; i < l->sources; i++) p = number(p, " R%u", &l->reg[i]);
    p = number(p, "%u", &l->width);
    if (l->width) read_addresses(p, l);
    else cr_expect(strspn(p, " \n") == strlen(p));
}

/* Opcodes of Volta that Accel-Sim knows: an unknown one ends it. */
static bool is_known(const char *opcode)
{
    static const char known[] =
        " FADD FFMA FMNMX FMUL FSEL FSET FSETP MUFU HADD2 HFMA2 HMUL2 HSET2 HSETP2 HMMA DADD DFMA DMUL DSETP BMSK BREV "
        "FLO IABS IADD3 IDP IMAD IMMA IMNMX ISETP LOP3 POPC SHF VABSDIFF F2F F2I I2F I2I FRND MOV PRMT SEL SGXT SHFL LDC LDG LDL "
        "LDS STG STL STS MATCH ATOMG ATOMS RED MEMBAR TEX TLD4 TXQ BPT BRA BRX CALL EXIT NANOSLEEP RET WARPSYNC BAR NOP "
        "VOTE ";
    char word[40];
    snprintf(word, sizeof word, " %.*s ", (int)strcspn(opcode, "."), opcode);
    return strstr(known, word) != NULL;
}

static void read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[4096];
    cr_assert(f != NULL, "%s", path);
    memset(&reading, 0, sizeof reading);
    uint64_t left = 0;
    bool inside = false;
    while (fgets(line, sizeof line, f)) {
        uint32_t x, y, z;
        uint64_t n;
        if (line[0] == '\n') continue;
        if (sscanf(line, "-kernel name = %63s", reading.name) == 1) continue;
        if (sscanf(line, "-kernel id = %u", &reading.id) == 1) continue;
        if (sscanf(line, "-accelsim tracer version = %u", &reading.version) == 1) continue;
        if (sscanf(line, "-grid dim = (%u,%u,%u)", &x, &y, &z) == 3)
            memcpy(reading.grid, (uint32_t[]){x, y, z}, 12);
        else if (sscanf(line, "-block dim = (%u,%u,%u)", &x, &y, &z) == 3)
            memcpy(reading.block, (uint32_t[]){x, y, z}, 12);
        else if (line[0] == '-') continue;
        else if (strncmp(line, "#BEGIN_TB", 9) == 0) {
            cr_expect(inside == false);
            inside = true;
        } else if (strncmp(line, "#END_TB", 7) == 0) {
            cr_expect(inside && left == 0);
            inside = false;
        } else if (line[0] == '#') continue;
        else if (strncmp(line, "thread block = ", 15) == 0) reading.blocks++;
        else if (strncmp(line, "warp = ", 7) == 0) {
            cr_expect(inside && left == 0);
            reading.warps++;
        } else if (sscanf(line, "insts = %lu", &n) == 1) left = n;
        else {
            struct line l;
            cr_assert(left-- > 0);
            read_line(line, &l);
            cr_expect(is_known(l.opcode), "%s", l.opcode);
            reading.exits += strcmp(l.opcode, "EXIT") == 0;
            if (left == 0) cr_expect(eq(str, l.opcode, (char *)"EXIT"));
            if (reading.lines < 512) reading.last[reading.lines] = l;
            reading.lines++;
        }
    }
    fclose(f);
    cr_expect(left == 0 && inside == false);
}

static const struct line *with(const char *opcode, uint32_t which)
{
    for (uint64_t i = 0; i < reading.lines && i < 512; i++)
        if (strcmp(reading.last[i].opcode, opcode) == 0 && which-- == 0) return &reading.last[i];
    cr_fatal("no %s", opcode);
}

struct bench {
    struct arena *arena;
    struct ptx_module *module;
    struct emu *emu;
    struct emu_image *image;
    uint64_t memory;
};

static void set_up(struct bench *b)
{
    static struct source source;
    static struct diags diags;
    char *why = NULL;
    b->arena = arena_new();
    source = (struct source){"test.ptx", text, sizeof text - 1};
    diags = (struct diags){.arena = b->arena, .source = &source};
    b->module = ptx_module_parse(b->arena, &source, &diags);
    cr_assert(ptx_module_check(b->module));
    b->emu = emu_new(&(struct emu_config){.sms = 4, .count = true});
    b->image = emu_load(b->emu, &b->module, 1, &why);
    cr_assert(b->image != NULL, "%s", why);
    b->memory = emu_alloc(b->emu, 1 << 16, "p");
}

/* Warp instructions that were counted. */
static uint64_t launch(struct bench *b, struct access_trace *t, size_t kernel)
{
    const struct emu_observer *list[] = {access_trace_observer(t)};
    struct emu_launch l = {.grid = {2, 3, 1},
                           .block = {48, 1, 1},
                           .params = &b->memory,
                           .params_size = kernel ? 0 : 8,
                           .observers = list,
                           .observer_count = 1};
    const struct emu_report *r = emu_launch(b->emu, emu_kernel_at(b->image, kernel), &l);
    cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
    return r->counts->phases[0].total.warp_instructions;
}

static void tear_down(struct bench *b)
{
    emu_unload(b->image);
    emu_free(b->emu);
    ptx_module_end(b->module);
    arena_free(b->arena);
}

Test(accelsim, each_warp_instruction_is_a_line)
{
    struct bench b;
    set_up(&b);
    struct access_trace *t = access_trace_new("traces", ACCESS_TRACE_ACCELSIM, &access_trace_all);
    const uint64_t work = launch(&b, t, 0), idle = launch(&b, t, 1);
    const char *why = access_trace_end(t);
    cr_assert(why == NULL, "%s", why);
    read_file("traces/kernel-2.traceg");
    cr_expect(eq(u64, reading.lines, idle));
    cr_expect(eq(u64, idle, 12)); /* one of each of two warps of six CTAs */
    cr_expect(eq(str, reading.name, (char *)"idle"));
    read_file("traces/kernel-1.traceg");
    cr_expect(eq(u64, reading.lines, work));
    cr_expect(reading.id == 1 && reading.version == 3 && reading.blocks == 6 &&
              reading.warps == 12 && reading.exits == 12);
    cr_expect(reading.grid[0] == 2 && reading.grid[1] == 3 && reading.block[0] == 48);
    tear_down(&b);
}

Test(accelsim, accesses_have_lanes_widths_and_addresses)
{
    struct bench b;
    set_up(&b);
    struct access_trace *t = access_trace_new("traces", ACCESS_TRACE_ACCELSIM, &access_trace_all);
    (void)launch(&b, t, 0);
    cr_assert(access_trace_end(t) == NULL);
    read_file("traces/kernel-1.traceg");
    for (uint32_t warp = 0; warp < 2; warp++) {
        const uint32_t even = warp ? 0x5555 : 0x55555555, all = warp ? 0xffff : 0xffffffff;
        const struct line *load = with("LDG.E.64", warp), *store = with("STS", warp),
                          *red = with("RED.E", warp), *exit = with("EXIT", warp);
        cr_expect(load->mask == even && store->mask == even && red->mask == even &&
                  exit->mask == all);
        cr_expect(load->width == 8 && store->width == 4 && red->width == 4);
        cr_expect(load->dests == 1 && store->dests == 0 && red->dests == 0);
        for (uint32_t l = 0; l < 32; l += 2) {
            if (!(even >> l & 1)) continue;
            cr_expect(eq(u64, load->address[l], b.memory + 8 * (32 * warp + l)));
            cr_expect(eq(u64, store->address[l] - store->address[0], 4 * l));
            cr_expect(eq(u64, red->address[l], b.memory + 4096));
        }
    }
    tear_down(&b);
}

Test(accelsim, one_launch_of_several)
{
    struct bench b;
    set_up(&b);
    struct access_trace_filter second = access_trace_all;
    second.launch[0] = second.launch[1] = 1;
    struct access_trace *t = access_trace_new("traces", ACCESS_TRACE_ACCELSIM, &second);
    for (int i = 0; i < 3; i++) (void)launch(&b, t, 1);
    cr_assert(access_trace_end(t) == NULL);
    FILE *list = fopen("traces/kernelslist.g", "r");
    char line[64] = "", more[64];
    cr_assert(list && fgets(line, sizeof line, list));
    cr_expect(eq(str, line, (char *)"kernel-2.traceg\n"));
    cr_expect(fgets(more, sizeof more, list) == NULL);
    fclose(list);
    struct stat s;
    cr_expect(stat("traces/kernel-1.traceg", &s) != 0 && stat("traces/kernel-3.traceg", &s) != 0);
    tear_down(&b);
}

Test(accelsim, all_opcodes_are_known_to_accel_sim)
{
    static const char *const opcodes[] = {
#define NAME(name, kind, opcode) opcode,
#define CLASS(cost, opcode) opcode,
#include "determinism/record/accelsim.def"
    };
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        cr_expect(is_known(opcodes[i]), "%s", opcodes[i]);
}
