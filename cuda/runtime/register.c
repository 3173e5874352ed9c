/* What nvcc's host code registers before main: fat binaries, and by addresses of the host kernels and variables in
 * them. A fat binary is loaded when the first of these is used. */
#define _GNU_SOURCE
#include "cuda/runtime/runtime.h"

#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {           /* a fat binary; its address is the handle that programs get */
    const void *wrapper; /* NULL: unregistered */
    CUmodule module;     /* of the device's `generation`; NULL: not loaded */
    unsigned generation;
    CUresult broken; /* why it cannot be loaded */
};
struct thing { /* a kernel or a variable, by the host's address */
    const void *host;
    struct image *image;
    const char *name;
    bool variable;
    unsigned generation; /* of what follows */
    CUfunction function;
    CUdeviceptr address;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *by_host, *by_function; /* trees of things */
static unsigned generation = 1;     /* of the device: counts its resets */

static int compare_host(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;
    return (x->host > y->host) - (x->host < y->host);
}

static int compare_function(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;
    return (x->function > y->function) - (x->function < y->function);
}

static struct thing *find(void *const *tree, const struct thing *key,
                          int (*compare)(const void *, const void *))
{
    struct thing *const *at = tfind(key, tree, compare);
    return at ? *at : NULL;
}

/* ---- what host code calls before main and after it --------------------------------------------------- */

void **__cudaRegisterFatBinary(void *wrapper)
{
    struct image *i = calloc(1, sizeof *i);
    if (!i) abort();
    i->wrapper = wrapper;
    return (void **)i;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

/* Things stay: static destructors may still name them, and hear that it is too late. */
void __cudaUnregisterFatBinary(void **handle)
{
    pthread_mutex_lock(&lock);
    ((struct image *)handle)->wrapper = NULL;
    pthread_mutex_unlock(&lock);
}

/* A template's kernel comes from every file that has an instance of it: the first one stands. */
static void add(struct thing t)
{
    struct thing *copy = malloc(sizeof *copy);
    if (!copy) abort();
    *copy = t;
    pthread_mutex_lock(&lock);
    struct thing *const *at = tsearch(copy, &by_host, compare_host);
    if (!at) abort();
    if (*at != copy) free(copy);
    pthread_mutex_unlock(&lock);
}

// NOLINTBEGIN(readability-non-const-parameter): the interface has them so
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, void *tid, void *bid, dim3 *block, dim3 *grid,
                            int *warp_size)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size;
    add((struct thing){.host = host, .image = (struct image *)handle, .name = name});
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    add((struct thing){.host = host,
                       .image = (struct image *)handle,
                       .name = name,
                       .variable = true,
                       .size = size});
}

/* The host would read its value where nothing is: better to say so now. */
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t size, int constant, int global)
{
    (void)handle, (void)host, (void)device, (void)external, (void)size, (void)constant;
    (void)global;
    fprintf(stderr, "heddle: '%s': __managed__ variables are not supported yet\n", name);
}

// NOLINTEND(readability-non-const-parameter)
char __cudaInitModule(void **handle)
{
    (void)handle; /* for managed variables */
    return 1;
}

/* ---- asked for ------------------------------------------------------------------------------------------ */

static CUresult load(struct image *i)
{
    if (!i->wrapper) return (CUresult)cudaErrorCudartUnloading;
    if (i->generation == generation) return i->broken;
    i->generation = generation;
    return i->broken = cuModuleLoadData(&i->module, i->wrapper);
}

static unsigned look_up(struct thing *t)
{
    if (t->image->wrapper && t->generation == generation) return CUDA_SUCCESS;
    CUresult r = load(t->image);
    if (r != CUDA_SUCCESS) return r;
    if (t->variable) r = cuModuleGetGlobal(&t->address, &t->size, t->image->module, t->name);
    else r = cuModuleGetFunction(&t->function, t->image->module, t->name);
    if (r != CUDA_SUCCESS)
        return t->variable ? cudaErrorInvalidSymbol : cudaErrorInvalidDeviceFunction;
    t->generation = generation;
    if (!t->variable && !tsearch(t, &by_function, compare_function)) abort();
    return CUDA_SUCCESS;
}

unsigned runtime_function(const void *host, CUfunction *out)
{
    unsigned r = cudaErrorInvalidDeviceFunction;
    const struct thing key = {.host = host, .function = (CUfunction)host};
    pthread_mutex_lock(&lock);
    struct thing *t = find(&by_host, &key, compare_host);
    if (!t) t = find(&by_function, &key, compare_function);
    if (t && !t->variable) r = look_up(t);
    if (r == cudaSuccess) *out = t->function;
    pthread_mutex_unlock(&lock);
    return r;
}

unsigned runtime_variable(const void *host, CUdeviceptr *address, size_t *size)
{
    unsigned r = cudaErrorInvalidSymbol;
    const struct thing key = {.host = host};
    pthread_mutex_lock(&lock);
    struct thing *t = find(&by_host, &key, compare_host);
    if (t && t->variable) r = look_up(t);
    if (r == cudaSuccess && address) *address = t->address;
    if (r == cudaSuccess && size) *size = t->size;
    pthread_mutex_unlock(&lock);
    return r;
}

static void leave(void *thing)
{
    (void)thing; /* it is in the other tree, too */
}

void runtime_forget_modules(void)
{
    pthread_mutex_lock(&lock);
    generation++;
    tdestroy(by_function, leave);
    by_function = NULL;
    pthread_mutex_unlock(&lock);
}
