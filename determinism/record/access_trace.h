/* determinism/record/access_trace.h: an observer that writes every access of global memory to a file, in the formats of
 * the tracer of Rieber's thesis, so that tools for these formats can read Heddle's runs.
 *
 *     struct access_trace *t = access_trace_new("app.trc", ACCESS_TRACE_V3, &access_trace_all);
 *     access_trace_stream(t, 2);                       // the stream of the launches from now on; 0 at first
 *     ... launches with access_trace_observer(t) among their observers
 *     const char *why = access_trace_end(t);           // NULL: all is written
 *
 * There is one record for each lane of each access of global memory (or of the filter's space), atomics and reductions included, in the order in
 * which warps issue them. Textures and surfaces count as loads and stores. Other state spaces are left out. A record
 * has the SM, the kind, the size in bytes, the address and the CTA.
 *
 * Each stream has a file of its own, as in the thesis (section 5.1): stream 0 the given path, stream 2 of "app.trc"
 * "app-2.trc". Existing files are replaced when the first launch of their stream begins. Numbers are little-endian on
 * every host. Memory: a buffer for each stream.
 *
 * ACCESS_TRACE_ACCELSIM writes a folder of another format (accelsim_trace.h), to which only the filter of launches
 * applies.
 *
 * docs/formats.md describes the bytes of the formats. */
#ifndef HEDDLE_DETERMINISM_RECORD_ACCESS_TRACE_H
#define HEDDLE_DETERMINISM_RECORD_ACCESS_TRACE_H

#include <stdint.h>

struct emu_observer;
struct trace_launch;

enum access_trace_format {
    ACCESS_TRACE_THESIS, /* "memtrace1": figures 5.2 and 5.3 of the thesis */
    ACCESS_TRACE_V3, /* "memtrace3": version 3 of cuda-memtrace, which joins adjacent accesses */
    ACCESS_TRACE_ACCELSIM, /* "accelsim": a folder of traces for Accel-Sim */
    /* "hdt": every instruction and access in one file (event_trace.h); only the filter of launches applies */
    ACCESS_TRACE_EVENTS,
    ACCESS_TRACE_FORMATS
};
extern const char *const access_trace_format_names[ACCESS_TRACE_FORMATS];

enum access_trace_space {
    ACCESS_TRACE_GLOBAL,
    ACCESS_TRACE_SHARED,
    ACCESS_TRACE_LOCAL,
    ACCESS_TRACE_SPACES
};
extern const char *const access_trace_space_names[ACCESS_TRACE_SPACES]; /* "global" */

struct access_trace_filter { /* what is recorded */
    uint32_t launch[2];      /* first and last launch, from 0 on */
    uint32_t cta[2];         /* first and last CTA, by linear index */
    uint8_t space;           /* enum access_trace_space */
};
extern const struct access_trace_filter access_trace_all; /* all accesses of global memory */

struct access_trace *access_trace_new(const char *path, enum access_trace_format format,
                                      const struct access_trace_filter *filter);
void access_trace_stream(struct access_trace *t, uint32_t stream);
const struct emu_observer *access_trace_observer(struct access_trace *t);
/* Begins a launch that was read from a file; the caller then calls the observer's issue, access, sync and end. Not for
 * "hdt". */
void access_trace_launch(struct access_trace *t, const struct trace_launch *l);
/* Closes the files and frees the trace. The result is the first error ("'app.trc': No space left on device"), valid
 * until the next call on this thread; data written before the error stays. NULL: no error. */
const char *access_trace_end(struct access_trace *t);

#endif
