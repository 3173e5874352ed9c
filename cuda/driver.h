/* cuda/driver.h: what the files of the driver API share.
 *
 * Every exported function is `begin, work, end`: one mutex guards all state. When work is done that
 * streams are asked for, cuda/queue.h says.
 *
 * Handles are pointers to objects that are never given back to the host before cuda_device_reset: a
 * destroyed object's kind is cleared and it waits in a list to be used again, so a stale handle is
 * answered with an error. */
#ifndef HEDDLE_CUDA_DRIVER_H
#define HEDDLE_CUDA_DRIVER_H

#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "cuda/outcome.h"
#include "cuda/report.h"
#include "emu/counts.h"
#include "emu/texture.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

struct arena;

struct call_name { /* "cuMemAlloc #3" */
    char text[48];
};

enum object_kind {
    OBJECT_NONE,
    OBJECT_CONTEXT = 0x48640001,
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_LIBRARY,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_ARRAY,
    OBJECT_MIPMAP,
    OBJECT_TEXTURE,
    OBJECT_REFERENCE,
    OBJECT_POOL,
    OBJECT_GRAPH,
    OBJECT_NODE,
    OBJECT_EXEC,
    OBJECT_USER,
    OBJECT_PHYSICAL,
    OBJECT_LINK,
    OBJECT_END
};
enum { OBJECT_KINDS = OBJECT_END - OBJECT_CONTEXT };

struct object {         /* at the start of each */
    unsigned kind, was; /* enum object_kind; OBJECT_NONE: destroyed, `was` says what it was */
    struct object *next_free, *next; /* of its kind: to be used again; all there are */
};

struct CUctx_st {
    struct object object;
    unsigned flags, api_version;
    unsigned long long id;
    unsigned retained; /* of the primary context */
    bool primary;
    CUresult broken; /* what a launch failed with: from then on every call does */
    CUfunc_cache cache;
    CUsharedconfig banks;
    size_t limits[7];           /* CUlimit */
    struct CUstream_st *legacy; /* its default stream; NULL: nobody has used it */
    /* When all operations of its default stream so far are done (cuda/timeline.h); of its streams that wait for that. */
    double legacy_done, blocking_done;
};

struct CUfunc_st {
    struct object object;
    struct CUmod_st *module;
    unsigned long long id; /* another function at its address has another */
    struct emu_kernel *kernel;
    const char *name;
    struct emu_param *params;
    size_t param_count;
    uint32_t params_size;
    int max_dynamic, carveout; /* -1: as ever */
    bool any_cluster;
};

struct CUmod_st {
    struct object object;
    struct CUctx_st *context;        /* NULL: a library's */
    struct arena *arena;             /* PTX, trees, params */
    struct ptx_module **ptx_modules; /* linked; bodies are read when emu wants them */
    size_t ptx_module_count;
    struct emu_image *image;
    struct CUfunc_st **functions;
    size_t function_count;
};

struct CUlib_st {
    struct object object;
    struct CUmod_st *module;
};

struct operation; /* queue.h */
struct capture;   /* capture.h */

struct nodes { /* of a graph */
    CUgraphNode *at;
    size_t count;
};

struct CUstream_st {
    struct object object;
    struct CUctx_st *context;
    unsigned flags;
    int priority;
    unsigned long long id;
    bool legacy;               /* the context's default stream */
    unsigned long long thread; /* whose default stream it is; 0: none's */
    struct operation *head, *tail;
    double done_at;          /* of its last operation that was executed (cuda/timeline.h) */
    struct stamp *stamp;     /* of its last operation (cuda/unordered.h) */
    uint32_t slot;           /* in stamps; 0: none yet */
    struct capture *capture; /* NULL: none */
    struct nodes frontier;   /* of the capture: behind which the next node comes */
    CUaccessPolicyWindow window;
    int policy, domain;
    unsigned char domains[2];
};

struct CUevent_st {
    struct object object;
    struct CUctx_st *context;
    unsigned flags;
    bool recorded;
    struct timespec at;
    double estimated;            /* of driver.reports.timeline, then */
    struct operation *last;      /* that records it; NULL: none has */
    unsigned long long captured; /* number of the capture that it was last recorded in; 0: none */
    struct nodes nodes;          /* of that: what was done by then */
};

struct CUarray_st {
    struct object object;
    struct CUctx_st *context;
    CUDA_ARRAY3D_DESCRIPTOR d;
    struct texture_memory memory;
    struct CUmipmappedArray_st *whole; /* of which it is a level; NULL: on its own */
    struct call_name made;
};

struct CUmipmappedArray_st {
    struct object object;
    struct CUctx_st *context;
    CUDA_ARRAY3D_DESCRIPTOR d;
    struct texture_memory memory;
    struct CUarray_st *level[TEXTURE_LEVELS];
    struct call_name made;
};

enum allocation_kind {
    ALLOCATION_DEVICE,
    ALLOCATION_MANAGED,    /* the host's as well, at the same address */
    ALLOCATION_PINNED,     /* likewise */
    ALLOCATION_REGISTERED, /* the host's, with an address for the device */
};

/* Of device memory, by address; what the host shares is device memory as well. */
struct allocation {
    uint64_t address, size;
    enum allocation_kind kind;
    struct CUctx_st *context;
    bool mapping;                  /* by cuMemMap: cuMemUnmap ends it */
    const struct CUmod_st *module; /* whose variable it is; NULL: nobody's */
    void *host;                    /* where the host finds it; NULL: nowhere */
    unsigned flags;
    unsigned long long serial;
    struct CUmemPoolHandle_st *pool; /* NULL: of none */
    struct advice *advice;           /* of managed memory (cuda/managed.c); NULL: none was given */
};

/* What an SM of the chosen GPU can hold. */
struct device_limits {
    int major, minor, sms;
    int partitions; /* that share its registers out among themselves */
    int warps, blocks, registers, register_unit, shared, shared_block, shared_optin, shared_unit,
        shared_reserved;
};

enum numbered_call { /* calls that reports name */
                     CALL_MEM_ALLOC,
                     CALL_MEM_ALLOC_ASYNC,
                     CALL_MEM_ALLOC_FROM_POOL,
                     CALL_MEM_ALLOC_PITCH,
                     CALL_MEM_ALLOC_MANAGED,
                     CALL_MEM_HOST_ALLOC,
                     CALL_MEM_HOST_REGISTER,
                     CALL_MEM_FREE,
                     CALL_MEM_FREE_ASYNC,
                     CALL_MEM_FREE_HOST,
                     CALL_MEM_HOST_UNREGISTER,
                     CALL_MEM_ADDRESS_RESERVE,
                     CALL_MEM_SET_ACCESS,
                     CALL_MEM_UNMAP,
                     CALL_ARRAY_CREATE,
                     CALL_ARRAY_3D_CREATE,
                     CALL_MIPMAP_CREATE,
                     CALL_ARRAY_DESTROY,
                     CALL_MIPMAP_DESTROY,
                     CALL_CONTEXT_DESTROY,
                     CALL_COUNT
};

enum pool_place { POOL_DEVICE, POOL_HOST, POOL_MANAGED, POOL_PLACES };

/* All handles. They are found by address before anybody looks into them. */
struct driver_objects {
    void **table;                        /* hashed by address, NULL in the holes */
    size_t count, cap;                   /* cap: places of the table, a power of two */
    struct object *unused[OBJECT_KINDS]; /* destroyed, to be used again */
    struct object *all[OBJECT_KINDS];    /* all there ever were, destroyed ones, too */
};

/* Device memory as the program asked for it: allocations, pools and virtual memory. */
struct driver_memory {
    struct allocation *allocations; /* by address */
    size_t count, cap;              /* of allocations */
    size_t registered;              /* allocations of ALLOCATION_REGISTERED */
    struct CUmemPoolHandle_st *default_pools[POOL_PLACES], *current_pools[POOL_PLACES];
    uint64_t pools_idle;        /* bytes that pools hold and no allocation uses */
    struct graph_memory_count { /* bytes, and the most since that was set back */
        uint64_t now, most;
    } graphs_used, graphs_held;       /* that launches of graphs allocated; that they reserved */
    struct reservation *reservations; /* of addresses (cuda/virtual.c) */
    struct mapping *mappings;         /* likewise */
};

/* Streams with operations that are not done (cuda/queue.h). */
struct driver_queues {
    struct CUstream_st **busy; /* with operations */
    size_t busy_count, busy_cap;
    bool adversary;   /* the order `random`: the seed draws which stream executes next */
    uint64_t choices; /* state of these draws */
};

/* Where launches and copies go; NULL: nowhere. */
struct run_observer *driver_run_observer(void);

/* The whole state of the driver API: there is one device. */
struct driver {
    bool initialised;
    bool configured; /* by cuda_device_configure(), not by the environment */
    struct emu_config config;
    struct cuda_watch watch;
    struct driver_reports reports;
    struct emu *emu;
    struct cta_arena *cta_arena; /* of one device after the other: never freed */
    struct checks *checks;       /* observers of launches; NULL: none */
    const char *order;           /* of the environment; NULL: not named */
    uint64_t seed;
    struct orders *orders; /* made of these; NULL: native, or configured by another */
    struct device_limits limits;
    struct driver_objects objects;
    struct driver_memory memory;
    struct driver_queues queues;
    bool unified; /* host pointers are no device addresses, except of memory that both have */
    struct CUctx_st *primary; /* the primary context; NULL: it is not active */
    unsigned primary_flags;
    unsigned long long serial; /* the last number of a context, stream or allocation */
    unsigned
        generation; /* counts resets: contexts that were current in a thread before are not after */
    struct calls {  /* of each kind, so far: reports name them by number */
        unsigned long long count, capacity;
        unsigned *sites; /* with the check of memory: where each was made (cuda/caller.h) */
    } calls[CALL_COUNT];
    unsigned site; /* likewise: of the operation that executes; 0: of none */
    struct capture *captures;
    struct graph_memory *graph_memory; /* all there is */
    bool newer_said;                   /* a message that PTX is for a newer GPU was printed */
    unsigned long long begun;          /* number of calls so far */
};
extern struct driver driver;

/* Takes the lock. With a place for the context: it must be current and not broken. The lock is held
 * whatever the answer, and driver_end gives it back and returns what it was given. */
CUresult driver_begin(struct CUctx_st **context);
CUresult driver_end(CUresult result);
CUresult driver_begin_without(void); /* initialised is enough */
/* For a call on a stream: the context is that of the stream, and none need be current. A default
 * stream (NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD) is that of the current context. */
CUresult driver_begin_on(CUstream stream, struct CUctx_st **context);
/* For a call on an event, likewise; INVALID_HANDLE if it is none. */
CUresult driver_begin_event(CUevent event, struct CUctx_st **context);
/* For a call that fails before it takes the lock: records the failure as driver_end does. Returns
 * `result`. */
CUresult driver_refuse(CUresult result);

extern const char *const driver_call_names[CALL_COUNT]; /* "cuMemAlloc" */
/* Counts a call that is about to be carried out. */
struct call_name driver_call(enum numbered_call call);
/* With the checks of memory and init: where the program is now; 0 else. */
unsigned driver_site(void);

/* For the runtime API, which is another library: a call of it has failed. Exported by
 * libcuda.so.1. */
void heddle_call_failed(unsigned result, const char *name);
/* Likewise: a function was called that is not there; the program's end says so. NOT_SUPPORTED. */
CUresult heddle_absent(const char *name);

/* For host functions: nothing is held while they run. */
void driver_unlock(void);
void driver_lock(void);

/* Until somebody else has done something, with nothing held meanwhile; and that it is done. */
void driver_sleep(void);
bool driver_sleep_until(const struct timespec *time); /* false: it has come before */
void driver_wake(void);
/* Until the condition is signalled, likewise. */
void driver_wait(pthread_cond_t *c);
/* In a function of the host that a stream calls: CUDA must not be called. */
void driver_host_function(bool in_it);
bool driver_is_host_function(void);     /* of this thread */
unsigned long long driver_thread(void); /* this thread's number, from 1 */

void *object_new(enum object_kind kind, size_t size);
void object_destroy(struct object *o);
void object_reuse(struct object *o); /* its kind is cleared already */
/* The handle, or NULL if it is not what it should be. */
void *object_check(void *handle, enum object_kind kind);

struct device_limits limits_of(const struct emu_gpu *g);
int device_attribute(CUdevice_attribute a);
size_t driver_memory(void); /* bytes of the device's */

bool device_ok(CUdevice device);

/* Adds one; it is named by the call. `host`: what is to be registered. */
CUresult allocation_new(struct CUctx_st *c, enum allocation_kind kind, size_t size, void *host,
                        enum numbered_call call, struct allocation **out);
/* Ends it: pointers to other allocations are not good any more. */
void allocation_end(struct allocation *a, const char *by);
/* With the check: a wrong address that a call which frees was given. */
void allocation_say_wrong(const char *call, uint64_t address);
/* With the check: a copy or fill, a "read" or "write", that does not stay inside one allocation. */
void allocation_say_outside(const char *what, uint64_t address, size_t size);
/* A pointer of the host's as the device has it, if it is into registered memory; any other as it is. */
uint64_t allocation_device_address(uint64_t pointer);
struct allocation *allocation_find(uint64_t address); /* that holds it; NULL */
struct allocation *allocation_of_host(const void *pointer);
void allocation_drop(struct CUctx_st *c, const char *by); /* all of a context's */
CUresult memory_allocate(struct CUctx_st *c, size_t size, CUdeviceptr *address);
CUresult memory_free(CUdeviceptr address, enum numbered_call call);
void allocation_leaks(const struct CUctx_st *c); /* says what of it was not freed; NULL: all */

/* Variables of a module are allocations, too, from its loading on. */
void allocation_add_variables(struct CUmod_st *m);
void allocation_drop_variables(const struct CUmod_st *m);

/* What is mapped and may be accessed is an allocation of no context. */
void allocation_add_mapping(uint64_t address, uint64_t size);
void allocation_drop_mapping(uint64_t address);
void virtual_drop(void); /* all that there is of it */

void advice_free(struct advice *a);

void pool_give_back(struct CUmemPoolHandle_st *p, uint64_t size); /* an allocation ended */
void pools_synchronise(void); /* something was waited for: nothing is held beyond thresholds */

void array_drop(struct CUctx_st *c, const char *by); /* and mipmaps, all of a context's */
void array_leaks(const struct CUctx_st *c);
bool array_ok(const struct texture_memory *m, size_t x, size_t y, size_t z, size_t width,
              size_t height, size_t depth); /* whether that box is inside; x and width in bytes */

void texture_drop(struct CUctx_st *c); /* texture and surface objects of a context */
void reference_drop(struct CUmod_st *m);
void reference_bind_all(void); /* before a launch: what was set since the last */
/* The machine's description of texels; false: there is no such format. */
bool texture_format(CUarray_format format, unsigned channels, struct texture_memory *out);
CUresult texture_memory_of(const CUDA_RESOURCE_DESC *r, struct texture_memory *out);
struct texture texture_of(const struct texture_memory *m, const CUDA_TEXTURE_DESC *d);

/* From PTX, a fat binary, or (load) a wrapper of fat binaries; the context is the caller's to
 * set. */
CUresult module_load(struct CUmod_st **out, const void *image, unsigned count,
                     const CUjit_option *options, void **values);
CUresult module_load_file(struct CUmod_st **out, const char *path, unsigned count,
                          const CUjit_option *options, void **values);
void module_destroy(struct CUmod_st *m);
struct CUfunc_st *function_check(CUfunction f); /* a kernel too */
CUresult function_occupancy(struct CUfunc_st *f, int block, size_t dynamic_shared, int *blocks);

void link_destroy(struct CUlinkState_st *l);

bool stream_ok(CUstream s);
void event_destroy(CUevent e);

/* Addresses that are host pointers after all. */
static inline void *pointer_of(uint64_t address)
{
    void *p;
    static_assert(sizeof p == sizeof address, "64-bit hosts");
    memcpy(&p, &address, sizeof p);
    return p;
}

#endif
