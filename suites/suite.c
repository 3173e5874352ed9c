/* Functions that all workloads use: a run, its resources, launches, verification (suites/suite.h). */
#define _GNU_SOURCE
#include "suites/suite.h"

#undef cuCtxCreate /* what drivers have had for long */
#undef cuEventElapsedTime

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the table ---------------------------------------------------------------------------------------- */

static const struct suite_workload workloads[] = {
#define WORKLOAD(name, ptx, graph, inputs, summary)                                                \
    {#name, summary, #ptx, suite_run_##name, inputs, graph},
#include "suites/workloads.def"
};

size_t suite_count(void)
{
    return sizeof workloads / sizeof *workloads;
}

const struct suite_workload *suite_at(size_t i)
{
    return &workloads[i];
}

const struct suite_workload *suite_find(const char *name)
{
    for (size_t i = 0; i < suite_count(); i++)
        if (strcmp(workloads[i].name, name) == 0) return &workloads[i];
    return NULL;
}

static const char *const size_names[] = {"small", "medium", "large"};

const char *suite_size_name(enum suite_size size)
{
    return size_names[size];
}

bool suite_size_read(const char *text, enum suite_size *out)
{
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(text, size_names[i]) == 0) {
            *out = (enum suite_size)i;
            return true;
        }
    return false;
}

size_t suite_pick(const struct suite_context *ctx, size_t small, size_t medium, size_t large)
{
    return ctx->size == SUITE_SMALL ? small : ctx->size == SUITE_MEDIUM ? medium : large;
}

/* Where a word of a list begins, or NULL; `end` closes a word. */
static const char *find_word(const char *list, char end, const char *word, size_t length)
{
    for (const char *at = list; *at;) {
        const char *close = strchr(at, end);
        const size_t n = close ? (size_t)(close - at) : strlen(at);
        if (n == length && strncmp(at, word, n) == 0) return at;
        at += n + (close != NULL);
    }
    return NULL;
}

/* The part of an input ("cnv2_1:images=4") behind the ':' of this one; NULL: it is the last. */
static const char *next_part(const char *part)
{
    const char *colon = strchr(part, ':');
    return colon ? colon + 1 : NULL;
}

/* The part that begins with "KEY="; of a key of no length the one without '='. NULL: there is none. */
static const char *find_part(const char *input, const char *key, size_t length)
{
    for (const char *at = input; at; at = next_part(at))
        if (length ? strncmp(at, key, length) == 0 && at[length] == '='
                   : at[strcspn(at, "=:")] != '=')
            return at;
    return NULL;
}

/* One name of the workload, or KEY=NUMBER, which stands before `end`, or neither. */
static bool is_part(const struct suite_workload *w, const char *part, size_t length)
{
    enum { MOST = 1 << 28 };
    char *end;
    const size_t key = strcspn(part, "=:");
    if (part[key] != '=') return length && find_word(w->inputs, '|', part, length);
    const unsigned long long n = strtoull(part + key + 1, &end, 10);
    return key && find_word(w->inputs, '|', part, key + 1) && part[key + 1] >= '0' &&
           part[key + 1] <= '9' && n >= 1 && n <= MOST && end == part + length;
}

bool suite_input_read(const struct suite_workload *w, const char *text, struct suite_options *out)
{
    if (suite_size_read(text, &out->size)) return true;
    for (const char *at = text; at; at = next_part(at)) {
        const size_t key = strcspn(at, "=:");
        if (!is_part(w, at, strcspn(at, ":"))) return false;
        if (find_part(text, at, at[key] == '=' ? key : 0) != at) return false; /* a second one */
    }
    out->input = text;
    return true;
}

/* ---- random numbers -------------------------------------------------------------------------------------- */

struct suite_random suite_random(uint64_t seed)
{
    return (struct suite_random){seed};
}

uint64_t suite_random_u64(struct suite_random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t suite_random_below(struct suite_random *r, uint32_t n)
{
    return (uint32_t)((suite_random_u64(r) >> 32) * n >> 32);
}

float suite_random_float(struct suite_random *r)
{
    return (float)(suite_random_u64(r) >> 40) * 0x1p-24F;
}

/* ---- a run ------------------------------------------------------------------------------------------------- */

struct kept {
    struct kept *next;
    void (*free_it)(void *p);
    void *p;
};

enum { MOST_KERNELS = 16 };

struct suite_run {
    const struct suite_workload *workload;
    const struct suite_options *options;
    struct suite_result *result;
    jmp_buf failed;
    struct kept *kept;
    CUcontext context;
    CUmodule module;
    CUevent start, end;
    struct {
        CUfunction function;
        const char *name;
    } kernels[MOST_KERNELS];
    unsigned kernel_count;
};

size_t suite_number(const struct suite_context *ctx, const char *key)
{
    const size_t n = strlen(key);
    const char *at = find_part(ctx->run->options->input, key, n);
    return at ? strtoull(at + n + 1, NULL, 10) : 0;
}

size_t suite_count_of(const struct suite_context *ctx, size_t small, size_t medium, size_t large)
{
    const size_t n = suite_number(ctx, "n");
    return n ? n : suite_pick(ctx, small, medium, large);
}

bool suite_has_input(const struct suite_context *ctx)
{
    return find_part(ctx->run->options->input, "", 0) != NULL;
}

size_t suite_input(const struct suite_context *ctx)
{
    const char *name = find_part(ctx->run->options->input, "", 0);
    const char *all = ctx->run->workload->inputs;
    const char *at = name ? find_word(all, '|', name, strcspn(name, ":")) : NULL;
    size_t i = 0;
    for (const char *c = all; at && c < at; c++) i += *c == '|';
    return i;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(struct suite_result *r, const char *format, va_list args)
{
    vsnprintf(r->message, sizeof r->message, format, args);
}

void suite_fail(struct suite_context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(ctx->run->result, format, args);
    va_end(args);
    longjmp(ctx->run->failed, 1);
}

void suite_bad_input(struct suite_context *ctx, const char *why)
{
    ctx->run->result->bad_input = true;
    suite_fail(ctx, "%s", why);
}

void suite_note(struct suite_context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(ctx->run->result, format, args);
    va_end(args);
}

void suite_check_result(struct suite_context *ctx, CUresult r, const char *call)
{
    if (r == CUDA_SUCCESS) return;
    const char *name = "?", *text = "?";
    cuGetErrorName(r, &name);
    cuGetErrorString(r, &text);
    ctx->run->result->error = r;
    suite_fail(ctx, "%.*s: %s (%s)", (int)strcspn(call, "("), call, name, text);
}

void suite_at_end(struct suite_context *ctx, void (*free_it)(void *p), void *p)
{
    struct kept *k = malloc(sizeof *k);
    if (!k) {
        free_it(p);
        suite_fail(ctx, "out of host memory");
    }
    *k = (struct kept){ctx->run->kept, free_it, p};
    ctx->run->kept = k;
}

void *suite_host_bytes(struct suite_context *ctx, size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) suite_fail(ctx, "out of host memory: %zu x %zu bytes", n, size);
    suite_at_end(ctx, free, p);
    return p;
}

static void begin(struct suite_context *ctx)
{
    struct suite_run *run = ctx->run;
    CUdevice device;
    const char *text = suite_ptx(run->workload->ptx);
    if (!text) suite_fail(ctx, "there is no kernel file '%s'", run->workload->ptx);
    if (ctx->graph && !run->workload->wants_graph)
        suite_fail(ctx, "'%s' takes no graph", run->workload->name);
    suite_check(ctx, cuInit(0));
    suite_check(ctx, cuDeviceGet(&device, 0));
    suite_check(ctx, cuCtxCreate_v2(&run->context, 0, device));
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    size_t size = sizeof log;
    void *values[] = {log, NULL};
    memcpy(&values[1], &size, sizeof size); /* a number in place of a pointer */
    CUresult r = cuModuleLoadDataEx(&run->module, text, 2, options, values);
    run->result->error = r;
    if (r != CUDA_SUCCESS && *log)
        suite_fail(ctx, "%s.ptx is refused: %s", run->workload->ptx, log);
    suite_check_result(ctx, r, "cuModuleLoadDataEx");
    suite_check(ctx, cuEventCreate(&run->start, CU_EVENT_DEFAULT));
    suite_check(ctx, cuEventCreate(&run->end, CU_EVENT_DEFAULT));
}

struct suite_result suite_run(const struct suite_workload *w, const struct suite_options *options)
{
    struct suite_result result = {.digest = UINT64_C(0xcbf29ce484222325)};
    struct suite_run run = {.workload = w, .options = options, .result = &result};
    struct suite_context ctx = {options->size, options->seed, options->graph, &run};
    double start = now();
    if (setjmp(run.failed) == 0) {
        begin(&ctx);
        w->run(&ctx);
        result.passed = true;
    }
    while (run.kept) {
        struct kept *k = run.kept;
        run.kept = k->next;
        k->free_it(k->p);
        free(k);
    }
    if (run.context) cuCtxDestroy(run.context); /* with all that was made in it */
    result.seconds = now() - start;
    return result;
}

/* ---- device memory ----------------------------------------------------------------------------------------- */

CUdeviceptr suite_alloc(struct suite_context *ctx, size_t bytes)
{
    CUdeviceptr p = 0;
    suite_check(ctx, cuMemAlloc(&p, bytes));
    suite_zero(ctx, p, bytes);
    return p;
}

CUdeviceptr suite_upload(struct suite_context *ctx, const void *data, size_t bytes)
{
    CUdeviceptr p = 0;
    suite_check(ctx, cuMemAlloc(&p, bytes));
    suite_write(ctx, p, data, bytes);
    return p;
}

void suite_write(struct suite_context *ctx, CUdeviceptr to, const void *data, size_t bytes)
{
    suite_check(ctx, cuMemcpyHtoD(to, data, bytes));
}

void suite_read(struct suite_context *ctx, void *to, CUdeviceptr from, size_t bytes)
{
    suite_check(ctx, cuMemcpyDtoH(to, from, bytes));
    uint64_t h = ctx->run->result->digest;
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const uint8_t *)to)[i]) * UINT64_C(0x100000001b3);
    ctx->run->result->digest = h;
}

void suite_zero(struct suite_context *ctx, CUdeviceptr to, size_t bytes)
{
    suite_check(ctx, cuMemsetD8(to, 0, bytes));
}

void suite_constant(struct suite_context *ctx, const char *name, const void *data, size_t bytes)
{
    CUdeviceptr p = 0;
    size_t size = 0;
    suite_check(ctx, cuModuleGetGlobal(&p, &size, ctx->run->module, name));
    if (size != bytes) suite_fail(ctx, "variable '%s' has %zu bytes, not %zu", name, size, bytes);
    suite_write(ctx, p, data, bytes);
}

void suite_release(struct suite_context *ctx, CUdeviceptr address)
{
    suite_check(ctx, cuMemFree(address));
}

/* ---- launches -------------------------------------------------------------------------------------------------- */

CUfunction suite_kernel(struct suite_context *ctx, const char *name)
{
    CUfunction f = NULL;
    CUresult r = cuModuleGetFunction(&f, ctx->run->module, name);
    if (r == CUDA_ERROR_NOT_FOUND)
        suite_fail(ctx, "%s.ptx has no kernel '%s'", ctx->run->workload->ptx, name);
    suite_check_result(ctx, r, "cuModuleGetFunction");
    struct suite_run *run = ctx->run;
    if (run->kernel_count < MOST_KERNELS) {
        run->kernels[run->kernel_count].function = f;
        run->kernels[run->kernel_count++].name = name;
    }
    return f;
}

static const char *name_of(const struct suite_run *run, CUfunction f)
{
    for (unsigned i = 0; i < run->kernel_count; i++)
        if (run->kernels[i].function == f) return run->kernels[i].name;
    return "?";
}

void suite_launch_params(struct suite_context *ctx, CUfunction f, struct suite_dim grid,
                         struct suite_dim block, unsigned shared, void **params)
{
    struct suite_run *run = ctx->run;
    float ms = 0;
    suite_check(ctx, cuEventRecord(run->start, NULL));
    suite_check(ctx, cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
                                    NULL, params, NULL));
    suite_check(ctx, cuEventRecord(run->end, NULL));
    suite_check(ctx, cuEventSynchronize(run->end));
    suite_check(ctx, cuEventElapsedTime(&ms, run->start, run->end));
    run->result->launches++;
    run->result->kernel_seconds += (double)ms * 1e-3;
    if (run->options->launched)
        run->options->launched(run->options->launched_self,
                               &(struct suite_launched){.kernel = name_of(run, f),
                                                        .grid = grid,
                                                        .block = block,
                                                        .shared = shared,
                                                        .seconds = (double)ms * 1e-3});
}

/* ---- verification --------------------------------------------------------------------------------------------- */

void suite_verify_u32(struct suite_context *ctx, const char *what, const uint32_t *got,
                      const uint32_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            suite_fail(ctx, "%s[%zu] is %u, should be %u (0x%08x, 0x%08x)", what, i, got[i],
                       want[i], got[i], want[i]);
}

void suite_verify_f32(struct suite_context *ctx, const char *what, const float *got,
                      const float *want, size_t n)
{
    if (memcmp(got, want, n * sizeof *got) == 0) return;
    for (size_t i = 0; i < n; i++) {
        uint32_t g, w;
        memcpy(&g, &got[i], 4);
        memcpy(&w, &want[i], 4);
        if (g != w)
            suite_fail(ctx, "%s[%zu] is %.9g, should be %.9g (0x%08x, 0x%08x)", what, i,
                       (double)got[i], (double)want[i], g, w);
    }
}
