/* Registration by nvcc's host code before main(): fat binaries, and the host addresses of their kernels and variables. A
 * fat binary is loaded at the first use of one of these. */
#define _GNU_SOURCE
#include "cuda/runtime/runtime.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct image {           /* a fat binary; its address is the handle that programs get */
    const void *wrapper; /* NULL: unregistered */
    CUmodule module;     /* of the device's `generation`; NULL: not loaded */
    unsigned generation;
    CUresult broken;       /* why it cannot be loaded */
    struct thing *managed; /* variables */
    struct image *next;
};
enum thing_kind { KERNEL, VARIABLE, REFERENCE };
struct thing { /* a kernel, a variable or a texture or surface reference, by the host's address */
    const void *host;
    struct image *image;
    const char *name;
    enum thing_kind kind;
    bool as_float;              /* of a reference: integers are read as floats */
    struct thing *next_managed; /* of the same image */
    unsigned generation;        /* of what follows */
    CUfunction function;
    CUdeviceptr address;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *by_host, *by_function; /* trees of things */
static struct image *images;        /* all of them */
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
    pthread_mutex_lock(&lock);
    i->next = images;
    images = i;
    pthread_mutex_unlock(&lock);
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

static void forget_function(struct thing *t)
{
    if (t->function && find(&by_function, t, compare_function) == t)
        (void)tdelete(t, &by_function, compare_function);
    t->function = NULL;
}

/* A template's kernel comes from every file that has an instance of it: the first one stands. But a library that was
 * closed, and is opened again or is replaced by another, leaves its addresses to the new one. */
static struct thing *add(struct thing t)
{
    struct thing *copy = malloc(sizeof *copy);
    if (!copy) abort();
    *copy = t;
    pthread_mutex_lock(&lock);
    struct thing *const *at = tsearch(copy, &by_host, compare_host);
    if (!at) abort();
    struct thing *stands = *at;
    if (stands != copy) free(copy);
    if (!stands->image->wrapper) {
        stands->image->managed = NULL;
        forget_function(stands);
        *stands = t;
    }
    pthread_mutex_unlock(&lock);
    return stands;
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
                       .kind = VARIABLE,
                       .size = size});
}

/* The host reads its address where `host` points, once the module is there. */
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t size, int constant, int global)
{
    struct image *i = (struct image *)handle;
    (void)device, (void)external, (void)constant, (void)global;
    struct thing *t = add(
        (struct thing){.host = host, .image = i, .name = name, .kind = VARIABLE, .size = size});
    t->next_managed = i->managed;
    i->managed = t;
}

#if CUDART_VERSION < 13000
/* PTX's name is where other things have the device's address; `name` is C++'s ("::space::t"). */
void __cudaRegisterTexture(void **handle, const struct textureReference *host, const void **device,
                           const char *name, int dimensions, int as_float, int external)
{
    (void)name, (void)dimensions, (void)external;
    add((struct thing){.host = host,
                       .image = (struct image *)handle,
                       .name = (const char *)device,
                       .kind = REFERENCE,
                       .as_float = as_float != 0});
}

void __cudaRegisterSurface(void **handle, const struct surfaceReference *host, const void **device,
                           const char *name, int dimensions, int external)
{
    (void)name, (void)dimensions, (void)external;
    add((struct thing){.host = host,
                       .image = (struct image *)handle,
                       .name = (const char *)device,
                       .kind = REFERENCE});
}
#endif

// NOLINTEND(readability-non-const-parameter)
/* ---- asked for ------------------------------------------------------------------------------------------ */

/* Where the host looks for the addresses of managed variables. */
static void tell_host(const struct image *i)
{
    for (struct thing *t = i->managed; t; t = t->next_managed) {
        if (cuModuleGetGlobal(&t->address, &t->size, i->module, t->name) != CUDA_SUCCESS) continue;
        t->generation = generation;
        memcpy((void *)t->host, &t->address, sizeof(void *));
    }
}

static CUresult load(struct image *i)
{
    if (!i->wrapper) return (CUresult)cudaErrorCudartUnloading;
    if (i->generation == generation) return i->broken;
    i->generation = generation;
    i->broken = cuModuleLoadData(&i->module, i->wrapper);
    if (i->broken == CUDA_SUCCESS) tell_host(i);
    return i->broken;
}

/* Before the host first uses a file's managed variables. Where it cannot be loaded a launch says why. */
char __cudaInitModule(void **handle)
{
    const CUresult r = runtime_begin();
    pthread_mutex_lock(&lock);
    if (r == CUDA_SUCCESS) (void)load((struct image *)handle);
    pthread_mutex_unlock(&lock);
    return 1;
}

static unsigned look_up(struct thing *t)
{
    if (t->image->wrapper && t->generation == generation) return CUDA_SUCCESS;
    CUresult r = load(t->image);
    if (r != CUDA_SUCCESS) return r;
    forget_function(t);
    if (t->kind == VARIABLE)
        r = cuModuleGetGlobal(&t->address, &t->size, t->image->module, t->name);
    else r = cuModuleGetFunction(&t->function, t->image->module, t->name);
    if (r != CUDA_SUCCESS)
        return t->kind == VARIABLE ? cudaErrorInvalidSymbol : cudaErrorInvalidDeviceFunction;
    t->generation = generation;
    if (t->kind == KERNEL && !tsearch(t, &by_function, compare_function)) abort();
    return CUDA_SUCCESS;
}

unsigned runtime_function(const void *host, CUfunction *out)
{
    unsigned r = cudaErrorInvalidDeviceFunction;
    const struct thing key = {.host = host, .function = (CUfunction)host};
    pthread_mutex_lock(&lock);
    struct thing *t = find(&by_host, &key, compare_host);
    if (!t) t = find(&by_function, &key, compare_function);
    if (t && t->kind == KERNEL) r = look_up(t);
    if (r == cudaSuccess) *out = t->function;
    pthread_mutex_unlock(&lock);
    const char *name;
    if (t || !host || cuFuncGetName(&name, (CUfunction)host) != CUDA_SUCCESS) return r;
    *out = (CUfunction)host; /* a library's */
    return cudaSuccess;
}

const void *runtime_host_of(CUfunction function)
{
    const struct thing key = {.function = function};
    pthread_mutex_lock(&lock);
    const struct thing *t = find(&by_function, &key, compare_function);
    pthread_mutex_unlock(&lock);
    return t ? t->host : (const void *)function;
}

/* The managed variable that is there; host code names them by their addresses. */
static struct thing *managed_at(const void *address)
{
    for (const struct image *i = images; i; i = i->next)
        for (struct thing *t = i->generation == generation ? i->managed : NULL; t;
             t = t->next_managed)
            if (t->generation == generation && t->address == runtime_address(address)) return t;
    return NULL;
}

unsigned runtime_variable(const void *host, CUdeviceptr *address, size_t *size)
{
    unsigned r = cudaErrorInvalidSymbol;
    const struct thing key = {.host = host};
    pthread_mutex_lock(&lock);
    struct thing *t = find(&by_host, &key, compare_host);
    if (!t) t = managed_at(host);
    if (t && t->kind == VARIABLE) r = look_up(t);
    if (r == cudaSuccess && address) *address = t->address;
    if (r == cudaSuccess && size) *size = t->size;
    pthread_mutex_unlock(&lock);
    return r;
}

#if CUDART_VERSION < 13000
unsigned runtime_reference(const void *host, struct runtime_reference *out)
{
    unsigned r = cudaErrorInvalidTexture;
    const struct thing key = {.host = host};
    pthread_mutex_lock(&lock);
    const struct thing *t = find(&by_host, &key, compare_host);
    if (t && t->kind == REFERENCE) r = load(t->image);
    if (r == cudaSuccess) *out = (struct runtime_reference){t->image->module, t->name, t->as_float};
    pthread_mutex_unlock(&lock);
    return r;
}
#endif

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
