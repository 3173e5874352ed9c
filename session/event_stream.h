/* session/event_stream.h: the stream of events from a process that runs kernels to the process that
 * started it.
 *
 * The command line creates a stream, asks for kinds of events and starts a process:
 *
 *     struct event_stream *s = event_stream_new();
 *     event_stream_want(s, EVENTS_TOTALS | EVENTS_LAUNCHES);
 *     event_stream_pass_on(s);          // sets HEDDLE_EVENTS for processes that are started from now on
 *     ... the program runs and ends ...
 *     struct event_reader r = event_reader_open(s, &bytes);
 *     for (struct event e; event_next(&r, &e);) switch (e.kind) ...
 *
 * The process that runs kernels (libcuda.so.1 in a program; for `heddle check` and `heddle estimate`
 * also a child of the command line) writes:
 *
 *     struct event_stream *s = event_stream_open(getenv(EVENT_STREAM_VARIABLE));
 *     if (event_stream_wants(s, EVENTS_LAUNCHES))
 *         event_write(s, &(struct event){.kind = EVENT_LAUNCH, .launch = record});
 *
 * The stream is a file in memory: a head with the version, the wanted kinds and the totals, then events.
 * An event is written by one system call and never changed. So all events of a program that is killed
 * are readable; for the reader an incomplete event ends the stream. Several processes may write
 * to one stream, one after the other or concurrently: child processes of a program inherit it.
 *
 * Absent by design: the writer reads nothing from the command line while the program runs, no event
 * has an answer, and the writer never waits. Both ends are of the same build: an event is written as
 * its C structure, so there is no second description of the fields. The head has the version and a
 * digest of the structures' sizes; event_stream_open() refuses a stream of another build. */
#ifndef HEDDLE_SESSION_EVENT_STREAM_H
#define HEDDLE_SESSION_EVENT_STREAM_H

#include "determinism/locks/locks.h"
#include "emu/fidelity.h"
#include "emu/profile.h"
#include "model/launch_estimate.h"
#include "session/launch_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The environment variable with the number of the stream's file descriptor. */
#define EVENT_STREAM_VARIABLE "HEDDLE_EVENTS"

/* Bits: the kinds of events that the reader wants. */
enum events_wanted {
    EVENTS_TOTALS = 1,    /* struct event_totals; the device counts instructions */
    EVENTS_LAUNCHES = 2,  /* EVENT_LAUNCH, _MESSAGE, _WRITE, _WRITES_LEFT_OUT */
    EVENTS_PROFILE = 4,   /* EVENT_PROFILE_LINE at the end; the device counts, with caches */
    EVENTS_ESTIMATES = 8, /* EVENT_ESTIMATE, EVENT_TIMELINE; the device traces launches */
    /* EVENT_LAUNCH_BEGIN, _LAUNCH, _FINDING, _MESSAGE, _DIGEST, _END_DIGESTS */
    EVENTS_RUN_LOG = 16,
    /* An attachment instead of events (session/communication_log.h). The two bits EVENTS_COMMUNICATION_UNIT
     * (128 and 256) have its enum communication_unit. */
    EVENTS_COMMUNICATION = 64,
    EVENTS_COMMUNICATION_UNIT = 128,
    EVENTS_FIDELITY = 512,    /* EVENT_FIDELITY at the end; the device counts instructions */
    EVENTS_LOCKS = 2048,      /* EVENT_LOCK, _LOCK_INSTRUCTIONS at the end */
    EVENTS_ACCESSES = 1024,   /* no events: the process writes a file (session/run_observer.h) */
    EVENTS_OPERATIONS = 4096, /* EVENT_OPERATION; needs EVENTS_ESTIMATES */
    EVENTS_TRACES = 8192,     /* no events: launches are traced, but not estimated */
    EVENTS_TASK = 32,         /* EVENT_TASK comes first, from the reader to the writer */
};

/* Sums over all launches of all processes of the stream. The head of the stream has them, so that a long
 * run takes no memory unless the reader wants single launches. */
struct event_totals {
    uint64_t launches, faults, endless; /* endless: faults that are limits or deadlocks */
    uint64_t findings, suppressed;      /* of all checks, including those of API calls */
    uint64_t warp_instructions, thread_instructions; /* PTX instructions */
    uint64_t nanoseconds;   /* wall-clock time of the host during launches */
    uint64_t no_device;     /* processes that could not create the device and computed nothing */
    uint64_t devices;       /* devices that were created; 0: no process has used CUDA */
    uint64_t rejected;      /* modules that could not be loaded */
    uint64_t absent;        /* functions of the API that were called and that Heddle lacks */
    uint64_t bad_watch;     /* places of --watch that do not exist */
    uint64_t bad_recording; /* recordings not replayed to the end, access files not written */
    uint64_t bad_output;    /* files of --counts or --record that could not be written */
    uint64_t access_traces; /* processes that began to write one (session/run_observer.h) */
};

/* How long the GPU was busy in the process of a CUDA program (cuda/timeline.h). */
enum timeline_engine {
    TIMELINE_SMS, /* launches, fills, copies inside the device */
    TIMELINE_TO_DEVICE,
    TIMELINE_TO_HOST,
    TIMELINE_ENGINES
};
struct event_timeline {
    double seconds;                /* from the start until the last operation is done */
    double busy[TIMELINE_ENGINES]; /* seconds in which each engine was busy */
    uint64_t copies[TIMELINE_ENGINES],
        bytes[TIMELINE_ENGINES]; /* over the link; [TIMELINE_SMS]: 0 */
    uint64_t launches;
    uint64_t untimed; /* not 0: the GPU's configuration has no bandwidth of the link to the host */
};

/* One operation of the GPU, or one wait of the host, with times in seconds of the timeline. */
enum operation_kind {
    OPERATION_LAUNCH, /* the grid of the previous EVENT_ESTIMATE */
    OPERATION_INSIDE, /* a fill, or a copy inside the device */
    OPERATION_TO_DEVICE,
    OPERATION_TO_HOST,
    OPERATION_WAIT, /* the host waits; stream and bytes are 0 */
    OPERATION_KINDS
};
struct event_operation {
    uint32_t kind, stream;        /* enum operation_kind; stream 0: the default stream */
    double submitted, begin, end; /* submitted: when the host submitted the operation */
    uint64_t bytes;
};

enum event_kind {
    EVENT_LAUNCH,            /* a launch has ended: `launch` */
    EVENT_MESSAGE,           /* a message of Heddle to the user: `text` */
    EVENT_PROFILE_LINE,      /* `line` */
    EVENT_FIDELITY,          /* `fidelity` */
    EVENT_LOCK,              /* `lock` */
    EVENT_LOCK_INSTRUCTIONS, /* `count`: instructions of all threads (locks_thread_instructions) */
    EVENT_WRITE,             /* a write to a watched place: `write` */
    EVENT_WRITES_LEFT_OUT,   /* `count`: writes beyond EVENTS_MOST_WRITES */
    EVENT_ESTIMATE,          /* a launch was estimated: `estimate` */
    EVENT_LAUNCH_BEGIN,      /* a launch begins: `text`, the name of the kernel */
    EVENT_FINDING,           /* a finding of a check in the previous launch: `finding` */
    EVENT_DIGEST,            /* memory after a launch, in the order of submission: `digest` */
    EVENT_END_DIGESTS,       /* digests at the end of a process: `end` */
    EVENT_STATUS,            /* the exit status of the run: `count` */
    EVENT_TASK,      /* the first event, for the process that runs (session/run_log.h): `task` */
    EVENT_TIMELINE,  /* at the end of a process: `timeline` */
    EVENT_PLACE,     /* an address of the task, behind EVENT_TASK: `count` */
    EVENT_OPERATION, /* an operation, in the order of execution: `operation` */
    EVENT_KINDS
};
enum { EVENTS_MOST_WRITES = 1 << 20 }; /* the most EVENT_WRITE of one process */

/* A write (determinism/record/writes.h) to an element of at most 8 bytes. */
struct event_write {
    uint64_t address, before, after; /* before, after: the bits of the element */
    uint64_t launch;                 /* number of the launch, from 1 */
    uint32_t kind;                   /* enum write_kind */
    uint32_t known;                  /* 1: cta and thread are known; else 0 */
    uint32_t cta[3], thread[3];
    uint32_t line, source_line;                       /* of the PTX, of the source; 0: unknown */
    const char *label, *type;                         /* the element: "counter[2]", "u32" */
    const char *op, *kernel, *function, *source_file; /* NULL: none */
};

struct event_finding {
    const char *kernel; /* "": the finding is about operations of the host */
    struct emu_finding found;
};

struct event_digest {
    const char *kernel;
    /* Digest of memory and of all output so far; 0: the contents of memory at this point depend on the order
     * of operations that the program does not define. */
    uint64_t memory;
};

struct event_end_digests {   /* 64 bits each */
    uint64_t other_launches; /* launches beyond RUN_LOG_MOST_LAUNCHES, together */
    uint64_t memory;         /* memory after the last launch */
    uint64_t printed;        /* the output of all kernels */
    uint64_t copied;         /* all bytes copied to the host, independent of the order of copies */
    uint64_t execution;      /* orders_execution() over all launches; 0: unknown */
};

struct event_task { /* struct run_log_task */
    uint64_t work, launch, first, place_count;
};

struct event {
    enum event_kind kind;
    union {
        struct launch_record launch;
        struct emu_profile_line line;
        struct emu_fidelity_line fidelity;
        struct event_write write;
        struct launch_estimate estimate;
        struct lock_row lock;
        struct event_finding finding;
        struct event_digest digest;
        struct event_end_digests end;
        struct event_task task;
        struct event_timeline timeline;
        struct event_operation operation;
        const char *text;
        uint64_t count;
    };
};

struct event_stream;

/* ---- the reader's side ----------------------------------------------------------------------- */

struct event_stream *event_stream_new(void);                     /* NULL: errno says why */
void event_stream_want(struct event_stream *s, unsigned wanted); /* adds enum events_wanted */
bool event_stream_pass_on(const struct event_stream *s);
void event_stream_close(struct event_stream *s); /* NULL is allowed */

struct buf;
struct event_reader {
    const char *at; /* the next event, in the copy of the stream */
    size_t left;
};
/* A reader of the events that were written by now; `bytes` gets a copy of them. */
struct event_reader event_reader_open(const struct event_stream *s, struct buf *bytes);
/* The same without the first `skip` bytes of events, which the caller has read before. */
struct event_reader event_reader_continue(const struct event_stream *s, struct buf *bytes,
                                          uint64_t skip);
/* Reads the next event. Its texts are valid as long as the copy of the stream. false: there is no further
 * complete event. */
bool event_next(struct event_reader *r, struct event *out);

/* ---- the writer's side ----------------------------------------------------------------------- */

/* Opens the stream with the file descriptor `number` (decimal). NULL: there is no such stream, or it is of
 * another build of Heddle. */
struct event_stream *event_stream_open(const char *number);
/* s may be NULL here and in event_write(): no events are wanted, and none are written. */
bool event_stream_wants(const struct event_stream *s, unsigned wanted);
void event_write(struct event_stream *s, const struct event *e);
/* Writes an EVENT_FIDELITY for all instructions, then one for each line. f NULL: writes nothing. */
void event_write_fidelity(struct event_stream *s, struct emu_fidelity *f);

/* Bulk data behind the events, written last: a page-aligned offset of a file. */
struct event_attachment {
    int file;
    uint64_t offset;
};
struct event_attachment event_stream_attach(struct event_stream *s);
/* The reader's side: the place of the attachment. false: the stream has none. */
bool event_stream_attachment(const struct event_stream *s, struct event_attachment *out);

/* The totals, for both sides; the writer adds to them. s NULL: totals that have no reader. */
struct event_totals *event_stream_totals(const struct event_stream *s);
void event_totals_add(struct event_totals *t, const struct launch_record *l);
/* The last line of a program's run: "heddle: 5 launches, ... 0 faults, 0 findings". */
void event_totals_print(const struct event_totals *t, FILE *out);

#endif
