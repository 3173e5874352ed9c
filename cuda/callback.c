/* The thread that calls host functions of streams and graphs (cuda/callback.h). */
#define _GNU_SOURCE
#include "cuda/callback.h"

#include "cuda/queue.h"
#include "cuda/unordered.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

struct callback_run {
    struct callback what;
    unsigned references;
    bool returned, left; /* nobody will ask */
};

/* Milliseconds that are waited for a function. Streams are to be interleaved by the seed alone, so there it is longer. */
enum { PATIENCE = 20, PATIENCE_OF_ADVERSARY = 500 };

static struct { /* the driver's lock guards it */
    bool started;
    struct callback_run *next; /* to be called, or being called */
    pthread_cond_t come;
} server = {.come = PTHREAD_COND_INITIALIZER};
static _Thread_local bool is_server;

static void release(struct callback_run *r)
{
    if (--r->references == 0) free(r);
}

static void call(struct callback_run *r)
{
    const struct callback c = r->what;
    driver_host_function(true);
    driver_unlock();
    if (c.callback) c.callback(c.stream, c.status, c.data);
    else c.function(c.data);
    driver_lock();
    driver_host_function(false);
    r->returned = true;
}

/* The first memory that a thread asks for comes with pages of its own. Not Heddle's malloc, the program's. */
static void allocate_once(void)
{
    void *(*get)(size_t) = NULL;
    void (*give)(void *) = NULL;
    *(void **)&get = dlsym(RTLD_DEFAULT, "malloc");
    *(void **)&give = dlsym(RTLD_DEFAULT, "free");
    if (get && give) give(get(1));
}

static void *serve(void *unused)
{
    is_server = true;
    allocate_once();
    driver_lock();
    server.started = true;
    driver_wake();
    for (;;) {
        while (!server.next) driver_wait(&server.come);
        call(server.next);
        release(server.next);
        server.next = NULL;
        driver_wake();
        queue_go_on();
    }
    return unused;
}

static void start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, NULL) != 0) abort();
    pthread_detach(thread);
}

void callback_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    while (!server.started) driver_sleep();
}

static void wait_for(const struct callback_run *r)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000L * (driver.queues.adversary ? PATIENCE_OF_ADVERSARY : PATIENCE);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!r->returned && driver_sleep_until(&until)) {
    }
}

/* What was asked for may be gone when it has returned. */
static void begin(struct callback_run *r)
{
    unordered_done(); /* others may be at work meanwhile */
    driver.site = 0;
    if (is_server) {
        call(r);
        return;
    }
    r->references++;
    server.next = r;
    pthread_cond_signal(&server.come);
    wait_for(r);
}

CUresult callback_step(struct callback_run **run, const struct callback *c)
{
    struct callback_run *r = *run;
    if (!r && server.next && !is_server) return CUDA_ERROR_NOT_READY;
    if (!r) {
        r = *run = calloc(1, sizeof *r);
        if (!r) abort();
        *r = (struct callback_run){.what = *c, .references = 2};
        begin(r);
    } else r->references++;
    const bool returned = r->returned, left = r->left;
    if (returned && !left) {
        *run = NULL;
        r->references--;
    }
    release(r);
    return left ? CUDA_ERROR_DEINITIALIZED : returned ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

bool callback_is_called(void)
{
    return server.next != NULL;
}

void callback_leave(struct callback_run *run)
{
    if (!run) return;
    run->left = true;
    release(run);
}
