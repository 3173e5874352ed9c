/* heddle run FILE.ptx: one launch of one kernel, its buffers made and shown by the command line. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGS = 256, SHOWN = 8 };
static const char command[] = "run";

struct type {
    const char *name;
    unsigned bytes;
    char kind; /* u s f */
};
static const struct type types[] = {
    {"u8", 1, 'u'},  {"s8", 1, 's'},  {"u16", 2, 'u'}, {"s16", 2, 's'}, {"u32", 4, 'u'},
    {"s32", 4, 's'}, {"u64", 8, 'u'}, {"s64", 8, 's'}, {"f32", 4, 'f'}, {"f64", 8, 'f'}};

static const struct type *type_named(const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && memcmp(types[i].name, text, n) == 0) return &types[i];
    return NULL;
}

struct buffer {
    const char *name; /* as given: "f32[1024]=iota" */
    const struct type *type;
    uint64_t count, address;
};

struct options {
    const char *path, *kernel;
    uint32_t grid[3], block[3];
    unsigned long shared;
    const char *args[MOST_ARGS];
    size_t arg_count;
    struct heddle_device_options device;
    bool quiet, dump;
};

static bool dimensions(const char *option, const char *text, uint32_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    const char *p = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        errno = 0;
        unsigned long n = strtoul(p, &end, 10);
        if (end == p || errno || n > UINT32_MAX || *p == '-') break;
        out[i] = (uint32_t)n;
        if (!*end) return true;
        if (*end != ',' && *end != 'x') break;
        p = end + 1;
    }
    usage_error(command, "%s wants X, X,Y or X,Y,Z, not '%s'", option, text);
    return false;
}

/* A number of a type as bits; false: it is none. */
static bool number(const struct type *t, const char *text, uint64_t *bits)
{
    char *end;
    errno = 0;
    if (t->kind == 'f') {
        double d = strtod(text, &end);
        float f = (float)d;
        *bits = 0;
        if (t->bytes == 8) memcpy(bits, &d, 8);
        else memcpy(bits, &f, 4);
    } else if (text[0] == '-') *bits = (uint64_t)strtoll(text, &end, 0);
    else *bits = strtoull(text, &end, 0);
    return *text && !*end && !errno;
}

/* TYPE[COUNT]=PATTERN: zero, iota, const(N), random(SEED), file(PATH). */
static bool make_buffer(struct heddle_device *d, const char *text, struct buffer *b)
{
    const char *open = strchr(text, '[');
    char *end;
    b->name = text;
    b->type = open ? type_named(text, (size_t)(open - text)) : NULL;
    b->count = open ? strtoull(open + 1, &end, 0) : 0;
    if (!b->type || !b->count || *end != ']' || (end[1] && end[1] != '=') ||
        b->count > UINT64_MAX / 8) {
        usage_error(command, "a buffer is TYPE[COUNT] or TYPE[COUNT]=PATTERN, not '%s'", text);
        return false;
    }
    const char *pattern = end[1] ? end + 2 : "zero";
    uint64_t n = b->count, size = n * b->type->bytes, seed = 1, value = 0;
    b->address = heddle_device_alloc(d, size, text);
    unsigned char *bytes = b->address ? calloc(n, b->type->bytes) : NULL;
    if (!bytes) {
        fprintf(stderr, "heddle run: no memory for '%s'\n", text);
        return false;
    }
    bool ok = true, iota = strcmp(pattern, "iota") == 0,
         random = strncmp(pattern, "random", 6) == 0;
    char word[64] = "";
    const char *paren = strchr(pattern, '(');
    if (paren && strlen(paren) < sizeof word) {
        memcpy(word, paren + 1, strlen(paren));
        if (word[0] && word[strlen(word) - 1] == ')') word[strlen(word) - 1] = '\0';
    }
    if (strncmp(pattern, "file(", 5) == 0) {
        char path[4096];
        snprintf(path, sizeof path, "%.*s", (int)(strlen(pattern) > 6 ? strlen(pattern) - 6 : 0),
                 pattern + 5);
        FILE *f = fopen(path, "rb");
        size_t got = f ? fread(bytes, 1, size, f) : 0;
        ok = f && got == size && fgetc(f) == EOF;
        if (!f) fprintf(stderr, "heddle run: cannot read '%s': %s\n", path, strerror(errno));
        else if (!ok)
            fprintf(stderr, "heddle run: '%s' does not have the %" PRIu64 " bytes of '%s'\n", path,
                    size, text);
        if (f) fclose(f);
    } else if (iota || random || strncmp(pattern, "const(", 6) == 0) {
        if (random && word[0]) seed = strtoull(word, NULL, 0);
        if (!iota && !random) ok = number(b->type, word, &value);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t x = iota ? i : value;
            if (random) { /* splitmix64 */
                uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
                z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
                z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
                x = z ^ z >> 31;
            }
            if (b->type->kind == 'f' && (iota || random)) {
                double v = iota ? (double)i : (double)(x >> 11) * 0x1p-53;
                float f = (float)v;
                if (b->type->bytes == 8) memcpy(&x, &v, 8);
                else x = 0, memcpy(&x, &f, 4);
            }
            memcpy(bytes + i * b->type->bytes, &x, b->type->bytes);
        }
        if (!ok) usage_error(command, "'%s' is no %s", word, b->type->name);
    } else if (strcmp(pattern, "zero") != 0) {
        usage_error(command,
                    "there is no pattern '%s': zero, iota, const(N), random(SEED), file(PATH)",
                    pattern);
        ok = false;
    }
    ok = ok && heddle_device_write(d, b->address, bytes, size);
    free(bytes);
    return ok;
}

static void show(struct heddle_device *d, const struct buffer *b)
{
    unsigned char x[8];
    printf("  %s:", b->name);
    for (uint64_t i = 0; i < b->count && i < SHOWN; i++) {
        uint64_t bits = 0;
        double f64;
        float f32;
        if (!heddle_device_read(d, x, b->address + i * b->type->bytes, b->type->bytes)) break;
        memcpy(&bits, x, b->type->bytes);
        memcpy(&f64, &bits, 8);
        memcpy(&f32, &bits, 4);
        if (b->type->kind == 'f') printf(" %.9g", b->type->bytes == 8 ? f64 : (double)f32);
        else if (b->type->kind == 'u') printf(" %" PRIu64, bits);
        else
            printf(" %" PRId64,
                   (int64_t)(bits << (64 - 8 * b->type->bytes)) >> (64 - 8 * b->type->bytes));
    }
    puts(b->count > SHOWN ? " ..." : "");
}

/* One argument as the bits of parameter i. */
static bool argument(struct heddle_device *d, const struct options *o, size_t i,
                     struct buffer *buffers, size_t *count, uint64_t *bits)
{
    const char *text = o->args[i], *colon = strchr(text, ':');
    uint32_t size = heddle_device_param_size(d, o->kernel, i);
    if (strncmp(text, "buf:", 4) == 0) {
        if (!make_buffer(d, text + 4, &buffers[*count])) return false;
        *bits = buffers[(*count)++].address;
        return true;
    }
    const struct type *t = colon ? type_named(text, (size_t)(colon - text))
                                 : type_named(size == 8 ? "u64" : "u32", 3);
    if (t && number(t, colon ? colon + 1 : text, bits)) {
        if (t->bytes == size || !colon) return true;
        usage_error(command, "argument %zu, '%s': the parameter has %u bytes", i + 1, text, size);
        return false;
    }
    usage_error(
        command,
        "argument %zu, '%s', is no number; TYPE:NUMBER and buf:TYPE[COUNT]=PATTERN are arguments, too",
        i + 1, text);
    return false;
}

static int launch(const struct options *o, struct heddle_module *m)
{
    struct heddle_device *d = heddle_device_new(&o->device);
    struct buffer buffers[MOST_ARGS];
    uint64_t bits[MOST_ARGS];
    size_t count = 0;
    int status = EXIT_FINE;
    if (!heddle_device_load(d, &m, 1)) {
        fprintf(stderr, "heddle run: %s\n", heddle_device_error(d));
        status = EXIT_INPUT;
    }
    size_t params = status ? 0 : heddle_device_param_count(d, o->kernel);
    if (!status && params != o->arg_count)
        status = usage_error(command, "kernel '%s' takes %zu arguments, not %zu", o->kernel, params,
                             o->arg_count);
    for (size_t i = 0; !status && i < o->arg_count; i++)
        if (!argument(d, o, i, buffers, &count, &bits[i])) status = EXIT_USAGE;
    if (!status) {
        struct heddle_run r = heddle_device_launch(d, o->kernel, o->grid, o->block,
                                                   (uint32_t)o->shared, bits, o->arg_count);
        fflush(stdout);
        fputs(r.text, stderr);
        status = r.limit ? EXIT_LIMIT : r.fault ? EXIT_FAULT : r.findings ? EXIT_FAULT : EXIT_FINE;
        if (!o->quiet && !r.fault) {
            printf("%s: %ux%ux%u CTAs of %ux%ux%u threads, %" PRIu64 " warp instructions, %" PRIu64
                   " thread instructions, %.3f ms, %.2f billion/s\n",
                   o->kernel, o->grid[0], o->grid[1], o->grid[2], o->block[0], o->block[1],
                   o->block[2], r.warp_instructions, r.thread_instructions, r.seconds * 1e3,
                   (double)r.thread_instructions * 1e-9 / (r.seconds > 0 ? r.seconds : 1));
            for (size_t i = 0; i < count; i++) show(d, &buffers[i]);
            printf("  digest %016" PRIx64 "\n", heddle_device_digest(d));
        }
    }
    if (o->device.check_memory) { /* what is left is the kernel's own */
        size_t leaks;
        for (size_t i = 0; i < count; i++) heddle_device_release(d, buffers[i].address);
        fputs(heddle_device_leaks(d, &leaks), stderr);
        if (leaks && status == EXIT_FINE) status = EXIT_FAULT;
    }
    heddle_device_free(d);
    return status;
}

/* The only kernel of a module; NULL after a message that lists them. */
static const char *only_kernel(struct heddle_module *m)
{
    const char *name = NULL;
    size_t kernels = 0;
    for (size_t i = 0; i < heddle_module_function_count(m); i++) {
        struct heddle_function f = heddle_module_function(m, i);
        if (!f.is_kernel) continue;
        kernels++;
        name = f.name;
    }
    if (kernels == 1) return name;
    usage_error(command,
                kernels ? "the module has %zu kernels: name one with --kernel"
                        : "the module has no kernel",
                kernels);
    return NULL;
}

static bool has_kernel(struct heddle_module *m, const char *name)
{
    for (size_t i = 0; i < heddle_module_function_count(m); i++) {
        struct heddle_function f = heddle_module_function(m, i);
        if (f.is_kernel && strcmp(f.name, name) == 0) return true;
    }
    usage_error(command, "the module has no kernel '%s'", name);
    return false;
}

/* The value of an option `--name VALUE` or `--name=VALUE`, and steps over it. */
static const char *value(int argc, char **argv, int *i, const char *name)
{
    size_t n = strlen(name);
    if (!argv[*i] || strncmp(argv[*i], name, n) != 0) return NULL;
    if (argv[*i][n] == '=') return argv[*i] + n + 1;
    if (argv[*i][n] || *i + 1 >= argc) return NULL;
    return argv[++*i];
}

static bool checks(const char *text, struct options *o)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *p = copy, *next; p; p = next) {
        next = strchr(p, ',');
        if (next) *next++ = '\0';
        if (strcmp(p, "memory") == 0) o->device.check_memory = true;
        else if (strcmp(p, "init") == 0) o->device.check_init = true;
        else if (strcmp(p, "sync") == 0) o->device.check_sync = true;
        else {
            usage_error(command, "--check takes memory, init and sync, not '%s'", p);
            return false;
        }
    }
    return true;
}

int cmd_run(int argc, char **argv)
{
    struct options o = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .device = {.count = true}};
    for (int i = 1; i < argc; i++) {
        const char *v;
        unsigned long n;
        if ((v = value(argc, argv, &i, "--kernel"))) o.kernel = v;
        else if ((v = value(argc, argv, &i, "--grid"))) {
            if (!dimensions("--grid", v, o.grid)) return EXIT_USAGE;
        } else if ((v = value(argc, argv, &i, "--block"))) {
            if (!dimensions("--block", v, o.block)) return EXIT_USAGE;
        } else if ((v = value(argc, argv, &i, "--shared"))) {
            if (!option_number(command, "--shared", v, 1 << 20, &o.shared)) return EXIT_USAGE;
        } else if ((v = value(argc, argv, &i, "--threads"))) {
            if (!option_number(command, "--threads", v, 1024, &n)) return EXIT_USAGE;
            o.device.threads = (unsigned)n;
        } else if ((v = value(argc, argv, &i, "--max-instructions"))) {
            if (!option_number(command, "--max-instructions", v, ~0ul, &n)) return EXIT_USAGE;
            o.device.max_instructions = n;
        } else if ((v = value(argc, argv, &i, "--timeout"))) {
            char *end;
            o.device.timeout = strtod(v, &end);
            if (!*v || *end || !(o.device.timeout > 0))
                return usage_error(command, "--timeout wants seconds, not '%s'", v);
        } else if ((v = value(argc, argv, &i, "--divergence"))) {
            o.device.independent_threads = strcmp(v, "its") == 0;
            if (!o.device.independent_threads && strcmp(v, "stack") != 0)
                return usage_error(command, "--divergence is stack or its, not '%s'", v);
        } else if ((v = value(argc, argv, &i, "--check"))) {
            if (!checks(v, &o)) return EXIT_USAGE;
        } else if ((v = value(argc, argv, &i, "--arg"))) {
            if (o.arg_count == MOST_ARGS)
                return usage_error(command, "too many arguments: limit %d", MOST_ARGS);
            o.args[o.arg_count++] = v;
        } else if (!argv[i]) break;
        else if (strcmp(argv[i], "--quiet") == 0) o.quiet = true;
        else if (argv[i][0] == '-' && argv[i][1])
            return usage_error(command, "unknown option '%s'", argv[i]);
        else if (o.path) return usage_error(command, "one file is run, not also '%s'", argv[i]);
        else o.path = argv[i];
    }
    if (!o.path) return usage_error(command, "which file?");
    int status = EXIT_FINE;
    struct heddle_module *m = load_module(o.path, &status);
    if (!m) return status;
    if (!o.kernel) o.kernel = only_kernel(m);
    else if (!has_kernel(m, o.kernel)) o.kernel = NULL;
    status = o.kernel ? launch(&o, m) : EXIT_USAGE;
    heddle_module_free(m);
    return finish_output(command, status);
}
