/* determinism/record/record.h: records the decisions of a memory order in a file, and replays them.
 *
 *     struct recorder *r = recorder_new(orders_get(o), "random:strategy=pct seed 7", file);
 *     ... launches with recorder_order(r) ...
 *     ok = recorder_end(r);                                  // frees it
 *
 *     struct player *p = player_new(file, &why);             // NULL: *why says the reason; free it
 *     ... the same launches with player_order(p) ...
 *     if (player_wrong(p)) puts(player_wrong(p));
 *     player_free(p);
 *
 * The recorder is an order that forwards every call to another order and writes the answers of
 * pick(), place(), access(), sync() and idle(): which warp runs and for how long, where a CTA is
 * placed, the results of loads and atomics, when a buffered store becomes visible. The player is an
 * order that gives these answers again. So a replay needs neither the recorded order nor its random
 * numbers, and a later version of Heddle can replay it. The counters of the order are not recorded.
 *
 * A launch that differs from the recorded one (kernel, sizes, modules, arguments, memory, GPU,
 * divergence) fails with EMU_BAD_ORDER and a text that says what differs. So does a launch that
 * reaches another decision than the recorded one, and a file that is damaged or truncated. The
 * player does not trust the file: whatever it holds, the player does no more than an order is
 * allowed to do.
 *
 * The file: "HEDDLREC", then blocks. A block has four bytes of length, the content, and eight bytes
 * of FNV-1a hash over this content and all content before it. A block of length 0 is the end. The
 * contents of all blocks are one sequence: the version, the order's name, its wants and its step,
 * then tokens (enum token in record.c), each with the number of answers before it that were as
 * predicted. Numbers are LEB128. */
#ifndef HEDDLE_DETERMINISM_RECORD_RECORD_H
#define HEDDLE_DETERMINISM_RECORD_RECORD_H

#include <stdbool.h>
#include <stdio.h>

struct emu_order;

struct recorder;
/* `in`: an order of a kind that can be recorded (orders.h). */
struct recorder *recorder_new(const struct emu_order *in, const char *name, FILE *out);
const struct emu_order *recorder_order(const struct recorder *r);
bool recorder_end(struct recorder *r); /* false: the file could not be written */

struct player;
struct player *player_new(FILE *in, char **why);
void player_free(struct player *p); /* NULL is allowed */
const struct emu_order *player_order(const struct player *p);
const char *player_name(const struct player *p); /* name of the recorded order */
/* Why the replay failed; NULL: it has not. */
const char *player_wrong(const struct player *p);
/* To be called after the last launch: as player_wrong, or a message that the recording has more launches. */
const char *player_end(struct player *p);

#endif
