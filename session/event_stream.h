/* session/event_stream.h: the one stream in which a process that runs kernels reports to the one
 * that started it.
 *
 * The command line makes a stream, says what it wants to know and starts a process:
 *
 *     struct event_stream *s = event_stream_new();
 *     event_stream_want(s, EVENTS_TOTALS | EVENTS_LAUNCHES);
 *     event_stream_pass_on(s);          // HEDDLE_EVENTS for the processes that are started now
 *     ... the program runs and ends ...
 *     struct event_reader r = event_reader_open(s, &bytes);
 *     for (struct event e; event_next(&r, &e);) switch (e.kind) ...
 *
 * The process that runs kernels (libcuda.so.1; of `heddle check` and `heddle estimate` also a child
 * of the command line) writes:
 *
 *     struct event_stream *s = event_stream_open(getenv(EVENT_STREAM_VARIABLE));
 *     if (event_stream_wants(s, EVENTS_LAUNCHES))
 *         event_write(s, &(struct event){.kind = EVENT_LAUNCH, .launch = record});
 *
 * The stream is a file in memory: a head with the version, the wishes and the totals, then events,
 * each written at once and never changed. So all that was reported is there when a program is
 * killed; an event that was cut short ends the stream for the reader. Several processes may write
 * to one stream, one after the other or at once: processes that a program starts inherit it.
 *
 * What is absent on purpose: nothing is read back from the command line while the program runs, and
 * no event asks for an answer; the writer never waits. Both ends are of the same build: events
 * are written as the structures are, so there is no second description of their fields. The head
 * has the version and a digest of the structures' sizes: a stream of another build is refused. */
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

/* The variable of the environment that holds the number of the stream's file descriptor. */
#define EVENT_STREAM_VARIABLE "HEDDLE_EVENTS"

/* Bits: what the reader wants to know. */
enum events_wanted {
    EVENTS_TOTALS = 1,    /* struct event_totals; instructions are counted for them */
    EVENTS_LAUNCHES = 2,  /* EVENT_LAUNCH, _MESSAGE, _WRITE, _WRITES_LEFT_OUT */
    EVENTS_PROFILE = 4,   /* EVENT_PROFILE_LINE at the end; launches are counted with caches */
    EVENTS_ESTIMATES = 8, /* EVENT_ESTIMATE, EVENT_TIMELINE; launches are traced */
    /* EVENT_LAUNCH_BEGIN, _LAUNCH, _FINDING, _MESSAGE, _DIGEST, _END_DIGESTS */
    EVENTS_RUN_LOG = 16,
    /* No events, but an attachment (session/communication_log.h), of this unit times enum communication_unit. */
    EVENTS_COMMUNICATION = 64,
    EVENTS_COMMUNICATION_UNIT = 128, /* and 256 */
    EVENTS_FIDELITY = 512,           /* EVENT_FIDELITY at the end; launches are counted */
    EVENTS_LOCKS = 2048,             /* EVENT_LOCK, _LOCK_INSTRUCTIONS at the end */
    EVENTS_ACCESSES = 1024,          /* no events, but a file (session/run_observer.h) */
    EVENTS_OPERATIONS = 4096,        /* EVENT_OPERATION; with EVENTS_ESTIMATES */
    EVENTS_TRACES = 8192,            /* no events: launches are traced, and not estimated */
    EVENTS_TASK = 32, /* no events: the first one is EVENT_TASK, for the process that runs */
};

/* Sums over all launches of all processes of the stream. They are kept in its head, so that a long
 * run costs no memory when nobody wants its launches one by one. */
struct event_totals {
    uint64_t launches, faults, endless; /* endless: faults that are limits or deadlocks */
    uint64_t findings, suppressed; /* of all checks, those of API calls, too; left out as known */
    uint64_t warp_instructions, thread_instructions; /* PTX instructions */
    uint64_t nanoseconds;                            /* of the host, in launches */
    uint64_t no_device; /* the device could not be created: the program has computed nothing */
    uint64_t devices;   /* that were made: 0 where no process has used CUDA */
    uint64_t rejected;  /* modules that cannot be loaded: none of their kernels ran */
    uint64_t absent;    /* functions of the API that were called and that Heddle does not have */
    uint64_t bad_watch; /* places of --watch that were not there */
    uint64_t
        bad_recording; /* was not replayed to its end; or a file of accesses could not be written */
    uint64_t bad_output;    /* files of --counts or --record that could not be written */
    uint64_t access_traces; /* processes that began to write one (session/run_observer.h) */
};

/* What a process of a CUDA program had the GPU do, over time (cuda/timeline.h). */
enum timeline_engine {
    TIMELINE_SMS, /* launches, fills, copies inside the device */
    TIMELINE_TO_DEVICE,
    TIMELINE_TO_HOST,
    TIMELINE_ENGINES
};
struct event_timeline {
    double seconds;                /* until the last operation is done */
    double busy[TIMELINE_ENGINES]; /* seconds, of these */
    uint64_t copies[TIMELINE_ENGINES],
        bytes[TIMELINE_ENGINES]; /* over the link; [TIMELINE_SMS]: 0 */
    uint64_t launches;
    uint64_t untimed; /* not 0: the GPU's configuration does not say how fast its link is */
};

/* One thing that the GPU or the host did, in the seconds of the timeline. */
enum operation_kind {
    OPERATION_LAUNCH, /* the grid of the EVENT_ESTIMATE before */
    OPERATION_INSIDE, /* a fill, or a copy inside the device */
    OPERATION_TO_DEVICE,
    OPERATION_TO_HOST,
    OPERATION_WAIT, /* the host waits; without stream and bytes */
    OPERATION_KINDS
};
struct event_operation {
    uint32_t kind, stream;        /* stream: 0: the default stream */
    double submitted, begin, end; /* submitted: by the host */
    uint64_t bytes;
};

enum event_kind {
    EVENT_LAUNCH,            /* a launch has ended: `launch` */
    EVENT_MESSAGE,           /* to the user, by Heddle: `text` */
    EVENT_PROFILE_LINE,      /* `line` */
    EVENT_FIDELITY,          /* `fidelity` */
    EVENT_LOCK,              /* `lock` */
    EVENT_LOCK_INSTRUCTIONS, /* `count`: of all threads (locks_thread_instructions) */
    EVENT_WRITE,             /* to a place that is watched: `write` */
    EVENT_WRITES_LEFT_OUT,   /* `count`: writes beyond EVENTS_MOST_WRITES */
    EVENT_ESTIMATE,          /* a launch was estimated: `estimate` */
    EVENT_LAUNCH_BEGIN,      /* a launch begins: `text`, the kernel */
    EVENT_FINDING,           /* of a check, in the launch before: `finding` */
    EVENT_DIGEST,            /* of memory after a launch, in the order of submission: `digest` */
    EVENT_END_DIGESTS,       /* of a process: `end` */
    EVENT_STATUS,            /* the exit status of the run: `count` */
    EVENT_TASK,      /* to the process that runs, as first event (session/run_log.h): `task` */
    EVENT_TIMELINE,  /* of a process, at its end: `timeline` */
    EVENT_PLACE,     /* likewise, behind it: `count`, an address */
    EVENT_OPERATION, /* in the order in which they are carried out: `operation` */
    EVENT_KINDS
};
enum { EVENTS_MOST_WRITES = 1 << 20 }; /* EVENT_WRITE of one process */

/* A struct write (determinism/record/writes.h) of an element of at most 8 bytes. */
struct event_write {
    uint64_t address, before, after; /* before, after: the element's bits */
    uint64_t launch;                 /* number of the launch, from 1 */
    uint32_t kind;                   /* enum write_kind */
    uint32_t known;                  /* whether cta and thread are */
    uint32_t cta[3], thread[3];
    uint32_t line, source_line;                       /* 0: unknown */
    const char *label, *type;                         /* of the element: "counter[2]", "u32" */
    const char *op, *kernel, *function, *source_file; /* NULL: none */
};

struct event_finding {
    const char *kernel; /* "": found between operations of the host */
    struct emu_finding found;
};

struct event_digest {
    const char *kernel;
    /* Of memory and of all that was printed so far; 0: the program's order leaves open what memory
     * holds here. */
    uint64_t memory;
};

struct event_end_digests {   /* 64 bits each */
    uint64_t other_launches; /* those beyond RUN_LOG_MOST_LAUNCHES */
    uint64_t memory;         /* after the last launch */
    uint64_t printed;        /* all that kernels printed */
    uint64_t copied;         /* all that was copied to the host, in any order */
    uint64_t execution;      /* orders_execution(), of all launches; 0: not known */
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
void event_stream_want(struct event_stream *s, unsigned wanted); /* enum events_wanted, added */
bool event_stream_pass_on(const struct event_stream *s);
void event_stream_close(struct event_stream *s); /* NULL is allowed */

struct buf;
struct event_reader {
    const char *at; /* in the copy of the stream */
    size_t left;
};
/* The events that are there by now, of which `bytes` gets a copy. */
struct event_reader event_reader_open(const struct event_stream *s, struct buf *bytes);
/* Likewise, without the first `skip` bytes of events: those that were read before. */
struct event_reader event_reader_continue(const struct event_stream *s, struct buf *bytes,
                                          uint64_t skip);
/* Texts of the event are good as long as the copy. false: there is no further event that is
 * whole. */
bool event_next(struct event_reader *r, struct event *out);

/* ---- the writer's side ----------------------------------------------------------------------- */

/* The stream of a descriptor's number. NULL: there is none, or it is of another version of
 * Heddle. */
struct event_stream *event_stream_open(const char *number);
/* s may be NULL: nothing is wanted then, and nothing written. */
bool event_stream_wants(const struct event_stream *s, unsigned wanted);
void event_write(struct event_stream *s, const struct event *e);
/* An EVENT_FIDELITY of all instructions, then one for each line. f may be NULL: none. */
void event_write_fidelity(struct event_stream *s, struct emu_fidelity *f);

/* Bulk data behind the events, the last that is written: a place in a file, at a page's
 * beginning. */
struct event_attachment {
    int file;
    uint64_t offset;
};
struct event_attachment event_stream_attach(struct event_stream *s);
/* The reader's side of it. false: there is none. */
bool event_stream_attachment(const struct event_stream *s, struct event_attachment *out);

/* For both sides: to be added to by the writer. s may be NULL: totals that nobody reads. */
struct event_totals *event_stream_totals(const struct event_stream *s);
void event_totals_add(struct event_totals *t, const struct launch_record *l);
/* The last line of a program's run: "heddle: 5 launches, ... 0 faults, 0 findings". */
void event_totals_print(const struct event_totals *t, FILE *out);

#endif
