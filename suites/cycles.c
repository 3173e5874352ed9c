#include "suites/cycles.h"
#include "suites/suite.h"

#undef cuCtxCreate /* what drivers have had for long */
#undef cuEventElapsedTime

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct cycles_row rows[] = {
#define CYCLES(group, name, kernel, grid, block, n, k, size, steps)                                \
    {#group, #name, #kernel, grid, block, n, k, size, steps},
#define SETUP(kernel, grid, block, n, k, size) {NULL, NULL, #kernel, grid, block, n, k, size, 0},
#include "suites/cycles.def"
};

size_t cycles_count(void)
{
    return sizeof rows / sizeof *rows;
}

const struct cycles_row *cycles_at(size_t i)
{
    return &rows[i];
}

enum {
    MOST_CTAS = 65536,
    MOST_LINES = 8192, /* of kernels that say what each load took */
    RUNS = 3,          /* the first is not counted */
    BIN = 10           /* cycles */
};
static const size_t memory_bytes = (size_t)1 << 30;

struct device {
    CUcontext context;
    CUmodule module;
    CUevent start, end;
    CUdeviceptr memory, out;
    unsigned launches; /* of kernels, so far */
};

struct run {
    double us;
    double mean, least, most; /* cycles of a CTA */
    unsigned launch;
};

static bool works(CUresult r, const char *call)
{
    const char *name = "?", *text = "?";
    if (r == CUDA_SUCCESS) return true;
    if (cuGetErrorName(r, &name) != CUDA_SUCCESS || !name) name = "?";
    if (cuGetErrorString(r, &text) != CUDA_SUCCESS || !text) text = "?";
    fprintf(stderr, "heddle-suite cycles: %.*s: %s (%s)\n", (int)strcspn(call, "("), call, name,
            text);
    return false;
}
#define WORKS(call) works((call), #call)

static bool launch(struct device *d, const struct cycles_row *r, double *us)
{
    CUfunction f;
    unsigned n = r->n, k = r->k, size = r->size;
    void *params[] = {&d->memory, &d->out, &n, &k, &size};
    float ms = 0;
    const bool fine = WORKS(cuModuleGetFunction(&f, d->module, r->kernel)) &&
                      WORKS(cuEventRecord(d->start, NULL)) &&
                      WORKS(cuLaunchKernel(f, r->grid, 1, 1, r->block, 1, 1, 0, NULL, params,
                                           NULL)) &&
                      WORKS(cuEventRecord(d->end, NULL)) && WORKS(cuEventSynchronize(d->end)) &&
                      WORKS(cuEventElapsedTime(&ms, d->start, d->end));
    *us = (double)ms * 1e3;
    d->launches++;
    return fine;
}

static bool run_row(struct device *d, size_t i, struct run *run)
{
    const struct cycles_row *r = &rows[i];
    uint64_t *cycles = malloc(r->grid * sizeof *cycles);
    double unused;
    bool fine = cycles && WORKS(cuMemsetD8(d->out, 0, r->grid * sizeof *cycles)) &&
                (i == 0 || rows[i - 1].group || launch(d, &rows[i - 1], &unused)); /* anew */
    run->launch = d->launches;
    fine = fine && launch(d, r, &run->us) &&
           WORKS(cuMemcpyDtoH(cycles, d->out, r->grid * sizeof *cycles));
    double sum = 0;
    run->least = 1e300, run->most = 0;
    for (unsigned c = 0; fine && c < r->grid; c++) {
        const double x = (double)cycles[c];
        sum += x;
        if (x < run->least) run->least = x;
        if (x > run->most) run->most = x;
    }
    run->mean = sum / r->grid;
    free(cycles);
    return fine;
}

/* How many of a row's loads took how long, if its kernel says so. */
static bool print_lines(const struct device *d, const struct cycles_row *r, FILE *out)
{
    uint32_t each[MOST_LINES], bins[200] = {0};
    if (strcmp(r->kernel, "cycles_lines") != 0) return true;
    if (!WORKS(cuMemcpyDtoH(each, d->out + MOST_CTAS * sizeof(uint64_t), sizeof each)))
        return false;
    for (unsigned i = 0; i < MOST_LINES; i++) bins[each[i] / BIN < 200 ? each[i] / BIN : 199]++;
    fprintf(out, "# %s of %u loads in all, by cycles:", r->name, MOST_LINES);
    for (unsigned b = 0; b < 200; b++)
        if (bins[b]) fprintf(out, " %u:%u", b * BIN, bins[b]);
    fputc('\n', out);
    return true;
}

static bool measure(struct device *d, size_t i, FILE *out)
{
    const struct cycles_row *r = &rows[i];
    struct run first, best = {.mean = 1e300}, run;
    if (!run_row(d, i, &first)) return false;
    for (unsigned k = 1; k < RUNS; k++) {
        if (!run_row(d, i, &run)) return false;
        if (run.mean < best.mean || (run.mean <= best.mean && run.us < best.us)) best = run;
    }
    const double steps = r->steps ? (double)r->n * r->steps : 1;
    fprintf(out, "%s,%s,%s,%u,%u,%u,%u,%u,%u,%u,%.3f,%.0f,%.0f,%.3f,%.3f\n", r->group, r->name,
            r->kernel, r->grid, r->block, r->n, r->k, r->size, r->steps, best.launch,
            best.mean / steps, best.least, best.most, best.us, first.us);
    (void)fflush(out);
    return print_lines(d, r, out);
}

static bool begin(struct device *d, FILE *out)
{
    CUdevice device;
    char name[256] = "?";
    if (!WORKS(cuInit(0)) || !WORKS(cuDeviceGet(&device, 0)) ||
        !WORKS(cuDeviceGetName(name, sizeof name, device)) ||
        !WORKS(cuCtxCreate_v2(&d->context, 0, device)) ||
        !WORKS(cuModuleLoadData(&d->module, suite_ptx("cycles"))) ||
        !WORKS(cuEventCreate(&d->start, CU_EVENT_DEFAULT)) ||
        !WORKS(cuEventCreate(&d->end, CU_EVENT_DEFAULT)) ||
        !WORKS(cuMemAlloc(&d->memory, memory_bytes)) ||
        !WORKS(cuMemAlloc(&d->out, MOST_CTAS * sizeof(uint64_t) + MOST_LINES * sizeof(uint32_t))))
        return false;
    fprintf(out,
            "# device %s\n"
            "group,name,kernel,grid,block,n,k,size,steps,launch,cycles,least,most,us,first_us\n",
            name);
    return true;
}

bool cycles_csv(const char *group, FILE *out)
{
    struct device d = {0};
    bool fine = begin(&d, out), known = !group;
    size_t setup = SIZE_MAX; /* the one to be launched before the next row of the group */
    for (size_t i = 0; fine && i < cycles_count(); i++) {
        double unused;
        if (!rows[i].group) {
            setup = i;
            continue;
        }
        if (group && strcmp(rows[i].group, group) != 0) continue;
        known = true;
        if (setup != SIZE_MAX) fine = launch(&d, &rows[setup], &unused);
        setup = SIZE_MAX;
        fine = fine && measure(&d, i, out);
    }
    if (!known) fprintf(stderr, "heddle-suite cycles: there is no group '%s'\n", group);
    if (d.context) cuCtxDestroy(d.context); /* with all that was made in it */
    return fine && known;
}
