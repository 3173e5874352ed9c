/* Rates by kernels that do one kind of operation (suites/micro.h). */
#define _GNU_SOURCE
#include "suites/micro.h"

#include "suites/micro_native.h"

#undef cuCtxCreate /* what drivers have had for long */

#include <string.h>
#include <time.h>

enum { BATCHES = 5, MOST_LAUNCHES = 1 << 20, MEMORY = 4 << 22 };

static const struct micro_rate rates[] = {
#define T(grid, block) ((double)(grid) * (block))
#define C(grid, block) ((double)(grid))
#define G(grid, block) 1.0
#define RATE(group, name, file, kernel, unit, grid, block, n, k, per, operations, native, besides) \
    {#group, #name,  #file, #kernel, unit,                                                         \
     grid,   block,  n,     k,       (operations) * (double)(n)*per(grid, block),                  \
     native, besides},
#include "suites/micro.def"
#undef RATE
#undef T
#undef C
#undef G
};

size_t micro_count(void)
{
    return sizeof rates / sizeof *rates;
}

const struct micro_rate *micro_at(size_t i)
{
    return &rates[i];
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of BATCHES durations the shortest: what else the host does can only make them longer. */
static double shortest(const double *v)
{
    double least = v[0];
    for (int i = 1; i < BATCHES; i++)
        if (v[i] < least) least = v[i];
    return least;
}

static bool works(CUresult r, const char *call, char why[256])
{
    const char *name = "?", *text = "?";
    if (r == CUDA_SUCCESS) return true;
    if (cuGetErrorName(r, &name) != CUDA_SUCCESS || !name) name = "?";
    if (cuGetErrorString(r, &text) != CUDA_SUCCESS || !text) text = "?";
    snprintf(why, 256, "%.*s: %s (%s)", (int)strcspn(call, "("), call, name, text);
    return false;
}
#define WORKS(call, why) works((call), #call, (why))

static const char *const files[] = {"micro", "micro_nested"};

bool micro_begin(struct micro_device *d)
{
    CUdevice device;
    *d = (struct micro_device){0};
    const bool ok = WORKS(cuInit(0), d->message) && WORKS(cuDeviceGet(&device, 0), d->message) &&
                    WORKS(cuDeviceGetName(d->name, sizeof d->name, device), d->message) &&
                    WORKS(cuCtxCreate_v2(&d->context, 0, device), d->message) &&
                    WORKS(cuModuleLoadData(&d->modules[0], suite_ptx(files[0])), d->message) &&
                    WORKS(cuMemAlloc(&d->memory, MEMORY), d->message) &&
                    WORKS(cuMemsetD8(d->memory, 0, MEMORY), d->message);
    if (!ok) micro_end(d);
    else if (!WORKS(cuModuleLoadData(&d->modules[1], suite_ptx(files[1])), d->nested))
        d->modules[1] = NULL;
    return ok;
}

void micro_end(struct micro_device *d)
{
    if (d->context) cuCtxDestroy(d->context); /* with all that was made in it */
    d->context = NULL;
}

static CUmodule module_of(const struct micro_device *d, const struct micro_rate *r)
{
    return d->modules[strcmp(r->file, files[1]) == 0];
}

/* `count` launches, to the end of the last. */
static bool launch(struct micro_device *d, const struct micro_rate *r, unsigned count,
                   char why[256])
{
    CUfunction f;
    unsigned n = r->n, k = r->k;
    void *params[] = {&d->memory, &n, &k};
    if (!module_of(d, r)) {
        snprintf(why, 256, "the driver does not load it: %.200s", d->nested);
        return false;
    }
    if (!WORKS(cuModuleGetFunction(&f, module_of(d, r), r->kernel), why)) return false;
    const bool grid_barrier = strcmp(r->name, "grid") == 0;
    for (unsigned i = 0; i < count; i++)
        if (!(grid_barrier
                  ? WORKS(cuLaunchCooperativeKernel(f, r->grid, 1, 1, r->block, 1, 1, 0, NULL,
                                                    params),
                          why)
                  : WORKS(cuLaunchKernel(f, r->grid, 1, 1, r->block, 1, 1, 0, NULL, params, NULL),
                          why)))
            return false;
    return WORKS(cuCtxSynchronize(), why);
}

bool micro_launch(struct micro_device *d, const struct micro_rate *r, char why[256])
{
    /* The words that grids count their barriers with. */
    return WORKS(cuMemsetD8(d->memory, 0, 8), why) && launch(d, r, 1, why);
}

struct micro_result micro_run(struct micro_device *d, const struct micro_rate *r, double seconds)
{
    struct micro_result out = {.launches = 1};
    double batch[BATCHES];
    if (!micro_launch(d, r, out.message)) return out; /* it also makes the launches after it warm */
    for (;;) {
        const double from = now();
        if (!launch(d, r, out.launches, out.message)) return out;
        if (now() - from >= seconds || out.launches >= MOST_LAUNCHES) break;
        out.launches *= 2;
    }
    for (unsigned b = 0; b < BATCHES; b++) {
        const double from = now();
        if (!launch(d, r, out.launches, out.message)) return out;
        batch[b] = now() - from;
    }
    out.seconds = shortest(batch);
    out.rate = r->operations * out.launches / out.seconds;
    return out;
}

double micro_native(const struct micro_rate *r, unsigned *out, double seconds)
{
    double batch[BATCHES];
    const unsigned threads = r->grid * r->block;
    unsigned times = 1;
    if (!r->native) return 0;
    for (int b = -1; b < BATCHES; b++) {
        const double from = now();
        for (unsigned i = 0; i < times; i++) r->native(out, threads, r->n, r->k);
        const double took = now() - from;
        if (b >= 0) batch[b] = took;
        else if (took < seconds && times < MOST_LAUNCHES) times *= 2, b--;
    }
    return r->operations * times / shortest(batch);
}

/* A CSV field: quoted, quotes doubled. */
static void field(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc('"', out);
}

bool micro_csv(FILE *out)
{
    struct micro_device d;
    bool ok = true;
    if (!micro_begin(&d)) {
        fprintf(stderr, "heddle-suite bench: %s\n", d.message);
        return false;
    }
    fprintf(out, "# device %s\ngroup,name,unit,rate,message\n", d.name);
    for (size_t i = 0; i < micro_count(); i++) {
        const struct micro_rate *r = micro_at(i);
        const struct micro_result m = micro_run(&d, r, 0.02);
        fprintf(out, "%s,%s,%s,%.6g,", r->group, r->name, r->unit, m.rate);
        field(m.message, out);
        fputc('\n', out);
        ok &= !*m.message || strcmp(r->file, files[1]) == 0;
    }
    micro_end(&d);
    return ok;
}
