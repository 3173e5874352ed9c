/* determinism/hardware/dab_options.h: the options of Deterministic Atomic Buffering (Chou et al., MICRO 2020).
 *
 * The order (determinism/dab/) uses them to run and count. The timing model reads them from the counts of a launch to
 * compute cycles. determinism/dab/options.c has their ranges, presets and descriptions. */
#ifndef HEDDLE_DETERMINISM_HARDWARE_DAB_OPTIONS_H
#define HEDDLE_DETERMINISM_HARDWARE_DAB_OPTIONS_H

#include <stdint.h>

enum dab_level { DAB_SCHEDULER, DAB_WARP };
/* determinism-aware scheduling (IV-C): which warp of a scheduler reduces next */
enum dab_rule {
    DAB_GWAT, /* greedy with atomic token (IV-C4) */
    DAB_GTAR, /* greedy then atomic round robin (IV-C3) */
    DAB_GTRR, /* greedy then round robin (IV-C2) */
    DAB_SRR,  /* strict round robin (IV-C1) */
    DAB_ANY,  /* no rule: breaks the guarantee */
    DAB_RULES
};
enum dab_queue { DAB_OWN_QUEUE, DAB_L2_QUEUE };

/* X(field, name of the option) */
#define DAB_OPTION_FIELDS(X)                                                                       \
    X(level, "level")                     /* enum dab_level: who has a buffer (IV-B, IV-C) */      \
    X(scheduler, "scheduler")             /* enum dab_rule */                                      \
    X(entries, "entries")                 /* of a buffer */                                        \
    X(fusion, "fusion")                   /* atomic fusion (IV-E) */                               \
    X(coalescing, "coalescing")           /* atomic coalescing (IV-F) */                           \
    X(offset, "offset")                   /* offset flushing (VI-B) */                             \
    X(sms, "sms")                         /* SMs that get CTAs, 0: all (VI-B) */                   \
    X(batches, "batches")                 /* of CTAs, one after another (IV-C5) */                 \
    X(sms_per_cluster, "sms-per-cluster") /* that send pre-flush messages together (IV-D) */       \
    X(partitions, "partitions")           /* sub-partitions of memory (IV-D) */                    \
    X(reorder, "reorder")                 /* partitions reorder flushes (IV-D; off: nr, VI-B4) */  \
    X(overlap, "overlap")                 /* flushes may overlap (nr-of, VI-B4) */                 \
    X(independent, "independent")         /* clusters flush by themselves (nr-cif, VI-B4) */       \
    X(distribution, "distribution")       /* 0: deterministic CTA distribution (IV-C5) */          \
    X(queue, "queue")                     /* enum dab_queue, of estimates alone (IV-D) */          \
    X(ahead, "ahead")                     /* warps issue before their turn what none observes */

struct dab_options {
#define FIELD(field, name) uint32_t field;
    DAB_OPTION_FIELDS(FIELD)
#undef FIELD
};
enum { DAB_OPTIONS = sizeof(struct dab_options) / sizeof(uint32_t) };

#endif
