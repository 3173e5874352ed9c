/* cuda/driver.h: the state of the driver API, and functions that its files share.
 *
 * Every exported function calls driver_begin(), does its work, and returns driver_end(): one mutex guards
 * all state. cuda/queue.h decides when operations of streams execute.
 *
 * Handles are pointers to objects. The memory of an object is not freed before cuda_device_reset(): a
 * destroyed object has its kind cleared and is in a free list, so a call with a stale handle returns an
 * error. */
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

struct object {         /* the first member of each object */
    unsigned kind, was; /* enum object_kind; OBJECT_NONE: destroyed; `was`: the former kind */
    struct object *next_free, *next; /* links of the free list and of the list of all of its kind */
};

struct CUctx_st {
    struct object object;
    unsigned flags, api_version;
    unsigned long long id;
    unsigned retained; /* primary context: number of references */
    bool primary;
    CUresult broken; /* error of a launch, which every later call returns; CUDA_SUCCESS: none */
    CUfunc_cache cache;
    CUsharedconfig banks;
    size_t limits[7];           /* indexed by CUlimit */
    struct CUstream_st *legacy; /* its legacy default stream; NULL: not yet used */
    /* End of the last operation of its legacy default stream, and of its blocking streams (cuda/timeline.h), in seconds. */
    double legacy_done, blocking_done;
};

struct CUfunc_st {
    struct object object;
    struct CUmod_st *module;
    unsigned long long id; /* unique: a later object at the same address has another one */
    struct emu_kernel *kernel;
    const char *name;
    struct emu_param *params;
    size_t param_count;
    uint32_t params_size;
    int max_dynamic, carveout; /* attributes that the program has set; -1: not set */
    bool any_cluster;          /* non-portable cluster sizes are allowed */
};

struct CUmod_st {
    struct object object;
    struct CUctx_st *context;        /* NULL: the module belongs to a library */
    struct arena *arena;             /* owns the PTX text, parsed modules and parameters */
    struct ptx_module **ptx_modules; /* linked; the emulator parses bodies when it needs them */
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

struct nodes { /* a list of nodes of a graph */
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
    unsigned long long thread; /* number of the thread whose default stream it is; 0: none */
    struct operation *head, *tail;
    double done_at;          /* end of its last executed operation (cuda/timeline.h), in seconds */
    struct stamp *stamp;     /* vector clock of its last operation (cuda/unordered.h) */
    uint32_t slot;           /* its component of vector clocks; 0: none yet */
    struct capture *capture; /* the capture that it is part of; NULL: none */
    struct nodes frontier;   /* with a capture: the nodes that the next node depends on */
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
    double estimated;            /* its time on driver.reports.timeline, in seconds */
    struct operation *last;      /* the last operation that records it; NULL: none */
    unsigned long long captured; /* id of the capture that recorded it last; 0: none */
    struct nodes nodes;          /* with `captured`: the frontier of the stream at the record */
};

struct CUarray_st {
    struct object object;
    struct CUctx_st *context;
    CUDA_ARRAY3D_DESCRIPTOR d;
    struct texture_memory memory;
    struct CUmipmappedArray_st *whole; /* the mipmapped array whose level it is; NULL: none */
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
    ALLOCATION_MANAGED,    /* shared with the host, at the same address */
    ALLOCATION_PINNED,     /* shared with the host, at the same address */
    ALLOCATION_REGISTERED, /* host memory, with another address for the device */
};

/* An allocation of device memory, which includes memory that the host shares. */
struct allocation {
    uint64_t address, size;
    enum allocation_kind kind;
    struct CUctx_st *context;
    bool mapping;                  /* made by cuMemMap; cuMemUnmap ends it */
    const struct CUmod_st *module; /* the module whose variable it is; NULL: no variable */
    void *host;                    /* its address on the host; NULL: none */
    unsigned flags;
    unsigned long long serial;
    struct CUmemPoolHandle_st *pool; /* the pool that it is from; NULL: none */
    struct advice *advice;           /* managed memory: its advice (cuda/managed.c); NULL: none */
};

/* Resource limits of the chosen GPU and its SMs. */
struct device_limits {
    int major, minor, sms;
    int partitions; /* partitions of an SM, each with an equal part of its registers */
    int warps, blocks, registers, register_unit, shared, shared_block, shared_optin, shared_unit,
        shared_reserved;
};

enum numbered_call { /* calls that reports name with a number: "cuMemAlloc #3" */
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

/* All objects. object_check() looks up the address of a handle in the table before it reads the object. */
struct driver_objects {
    void **table;                        /* hash table by address; NULL: an empty slot */
    size_t count, cap;                   /* objects; slots of the table, a power of two */
    struct object *unused[OBJECT_KINDS]; /* free lists of destroyed objects */
    struct object *all[OBJECT_KINDS];    /* lists of all objects, including destroyed ones */
};

/* Device memory that the program has allocated: allocations, pools and virtual memory. */
struct driver_memory {
    struct allocation *allocations; /* sorted by address */
    size_t count, cap;              /* number and capacity of allocations */
    size_t registered;              /* number of ALLOCATION_REGISTERED */
    struct CUmemPoolHandle_st *default_pools[POOL_PLACES], *current_pools[POOL_PLACES];
    uint64_t pools_idle;        /* bytes of pools that no allocation uses */
    struct graph_memory_count { /* bytes now, and the maximum since the last reset */
        uint64_t now, most;
    } graphs_used, graphs_held;       /* allocated by launches of graphs; reserved for them */
    struct reservation *reservations; /* reserved addresses (cuda/virtual.c) */
    struct mapping *mappings;         /* mapped memory (cuda/virtual.c) */
};

/* Streams with pending operations (cuda/queue.h). */
struct driver_queues {
    struct CUstream_st **busy; /* the streams with pending operations */
    size_t busy_count, busy_cap;
    bool adversary;   /* the order is `random`: the seed determines which stream executes next */
    uint64_t choices; /* state of that random generator */
};

/* The observer of launches and copies; NULL: none. */
struct run_observer *driver_run_observer(void);

/* The whole state of the driver API. There is one device. */
struct driver {
    bool initialised;
    bool configured; /* by cuda_device_configure(), not by the environment */
    struct emu_config config;
    struct cuda_watch watch;
    struct driver_reports reports;
    struct emu *emu;
    struct cta_arena *cta_arena; /* reused by one device after the other: never freed */
    struct checks *checks;       /* observers of launches; NULL: none */
    const char *order;           /* the order that the environment names; NULL: none */
    uint64_t seed;
    struct orders *orders; /* made from order and seed; NULL: native, or cuda_device_configure() */
    struct device_limits limits;
    struct driver_objects objects;
    struct driver_memory memory;
    struct driver_queues queues;
    bool unified; /* unified address space: host pointers are no device addresses, unless shared */
    struct CUctx_st *primary; /* the primary context; NULL: it is not active */
    unsigned primary_flags;
    unsigned long long serial; /* the last number of a context, stream or allocation */
    unsigned generation; /* number of resets: a reset clears the current contexts of all threads */
    struct calls {       /* calls of each kind so far, which reports name by number */
        unsigned long long count, capacity;
        unsigned *sites; /* with the check of memory: the call site of each (cuda/caller.h) */
    } calls[CALL_COUNT];
    unsigned site;                     /* call site of the operation that executes; 0: none */
    struct capture *captures;          /* list of all captures */
    struct graph_memory *graph_memory; /* list of all memory of graphs */
    bool newer_said;                   /* the message that PTX is for a newer GPU was printed */
    unsigned long long begun;          /* number of API calls so far */
};
extern struct driver driver;

/* Takes the lock and sets *context to the current context, which must exist and not be broken. The lock is held
 * even after an error. driver_end() releases the lock and returns its argument. */
CUresult driver_begin(struct CUctx_st **context);
CUresult driver_end(CUresult result);
CUresult driver_begin_without(void); /* needs cuInit(), but no context */
/* For a call on a stream: *context is that of the stream, and no context need be current. For a default stream
 * (NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD) *context is the current context. */
CUresult driver_begin_on(CUstream stream, struct CUctx_st **context);
/* For a call on an event: *context is that of the event. CUDA_ERROR_INVALID_HANDLE: it is no event. */
CUresult driver_begin_event(CUevent event, struct CUctx_st **context);
/* For a call that fails before it takes the lock: logs the failure as driver_end() does. Returns
 * `result`. */
CUresult driver_refuse(CUresult result);

extern const char *const driver_call_names[CALL_COUNT]; /* "cuMemAlloc" */
/* Counts a call that is about to execute, and returns its name in reports. */
struct call_name driver_call(enum numbered_call call);
/* With the checks memory, init or sync: the current call site of the program (caller_note()); else 0. */
unsigned driver_site(void);

/* For the runtime API, which is another library: reports that one of its calls has failed. Exported by
 * libcuda.so.1. */
void heddle_call_failed(unsigned result, const char *name);
/* For both APIs: records a call of a function that Heddle lacks, to be listed at the end. Returns CUDA_ERROR_NOT_SUPPORTED. */
CUresult heddle_absent(const char *name);

/* Releases and takes the lock around host functions, which run without it. */
void driver_unlock(void);
void driver_lock(void);

/* Waits, without the lock, until another thread calls driver_wake(). */
void driver_sleep(void);
bool driver_sleep_until(const struct timespec *time); /* false: the time has passed before */
void driver_wake(void);
/* Waits, without the lock, until the condition is signalled. */
void driver_wait(pthread_cond_t *c);
/* Says that this thread executes a host function of a stream, in which CUDA must not be called. */
void driver_host_function(bool in_it);
bool driver_is_host_function(void);     /* whether this thread does so */
unsigned long long driver_thread(void); /* this thread's number, from 1 */

void *object_new(enum object_kind kind, size_t size);
void object_destroy(struct object *o);
void object_reuse(struct object *o); /* puts an object with cleared kind into the free list */
/* The object of the handle; NULL: the handle is no live object of this kind. */
void *object_check(void *handle, enum object_kind kind);

struct device_limits limits_of(const struct emu_gpu *g);
int device_attribute(CUdevice_attribute a);
size_t driver_memory(void); /* size of device memory in bytes */

bool device_ok(CUdevice device);

/* Makes an allocation, which is named after the call. `host`: the memory to register, for ALLOCATION_REGISTERED. */
CUresult allocation_new(struct CUctx_st *c, enum allocation_kind kind, size_t size, void *host,
                        enum numbered_call call, struct allocation **out);
/* Frees an allocation. Invalidates pointers to all struct allocation. */
void allocation_end(struct allocation *a, const char *by);
/* With the check of memory: reports that a freeing call has a wrong address. */
void allocation_say_wrong(const char *call, uint64_t address);
/* With the check of memory: reports a copy or fill (`what`: "read" or "write") that leaves its allocation. */
void allocation_say_outside(const char *what, uint64_t address, size_t size);
/* The device address of a host pointer into registered memory; any other address unchanged. */
uint64_t allocation_device_address(uint64_t pointer);
struct allocation *allocation_find(uint64_t address); /* the one that contains it; NULL: none */
struct allocation *allocation_of_host(const void *pointer);
void allocation_drop(struct CUctx_st *c, const char *by); /* frees all of a context */
CUresult memory_allocate(struct CUctx_st *c, size_t size, CUdeviceptr *address);
CUresult memory_free(CUdeviceptr address, enum numbered_call call);
void allocation_leaks(const struct CUctx_st *c); /* reports leaks of a context; NULL: of all */

/* Variables of a module are allocations while the module is loaded. */
void allocation_add_variables(struct CUmod_st *m);
void allocation_drop_variables(const struct CUmod_st *m);

/* Mapped memory with access rights is an allocation without a context. */
void allocation_add_mapping(uint64_t address, uint64_t size);
void allocation_drop_mapping(uint64_t address);
void virtual_drop(void); /* frees all virtual memory */

void advice_free(struct advice *a);

void pool_give_back(struct CUmemPoolHandle_st *p, uint64_t size); /* an allocation was freed */
void pools_synchronise(void); /* after a wait of the host: pools release memory above thresholds */

void array_drop(struct CUctx_st *c, const char *by); /* all arrays and mipmaps of a context */
void array_leaks(const struct CUctx_st *c);
bool array_ok(const struct texture_memory *m, size_t x, size_t y, size_t z, size_t width,
              size_t height, size_t depth); /* whether the box is inside; x, width in bytes */

void texture_drop(struct CUctx_st *c); /* texture and surface objects of a context */
void reference_drop(struct CUmod_st *m);
void reference_bind_all(void); /* before a launch: binds references set since the last one */
/* The emulator's description of a texel format; false: there is no such format. */
bool texture_format(CUarray_format format, unsigned channels, struct texture_memory *out);
CUresult texture_memory_of(const CUDA_RESOURCE_DESC *r, struct texture_memory *out);
struct texture texture_of(const struct texture_memory *m, const CUDA_TEXTURE_DESC *d);

/* Loads a module from PTX, a fat binary, or (module_load) a wrapper of fat binaries. The caller sets the
 * module's context. */
CUresult module_load(struct CUmod_st **out, const void *image, unsigned count,
                     const CUjit_option *options, void **values);
CUresult module_load_file(struct CUmod_st **out, const char *path, unsigned count,
                          const CUjit_option *options, void **values);
void module_destroy(struct CUmod_st *m);
struct CUfunc_st *function_check(CUfunction f); /* accepts a CUkernel as well; NULL: neither */
CUresult function_occupancy(struct CUfunc_st *f, int block, size_t dynamic_shared, int *blocks);

void link_destroy(struct CUlinkState_st *l);

bool stream_ok(CUstream s);
void event_destroy(CUevent e);

/* The host pointer that a 64-bit address stands for. */
static inline void *pointer_of(uint64_t address)
{
    void *p;
    static_assert(sizeof p == sizeof address, "64-bit hosts");
    memcpy(&p, &address, sizeof p);
    return p;
}

#endif
