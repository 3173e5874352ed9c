/* tests/support/fatbins.h: fat binaries, as nvcc's tools write them: for tests. */
#ifndef HEDDLE_TESTS_SUPPORT_FATBINS_H
#define HEDDLE_TESTS_SUPPORT_FATBINS_H

#include "base/buf.h"
#include "cuda/fatbin.h"

enum packing { STORED, LZ4, ZSTD };

/* An entry at the end of a container, whose header is there first. */
void fatbin_add(struct buf *b, unsigned kind, unsigned sm, const char *code, size_t size,
                enum packing packing);

#endif
