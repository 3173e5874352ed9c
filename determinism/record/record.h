/* determinism/record/record.h: what an order decided, in a file, and the same once more.
 *
 *     struct recorder *r = recorder_new(orders_get(o), "random:strategy=pct seed 7", file);
 *     ... launches with recorder_order(r) ...
 *     ok = recorder_end(r);                                  // frees it
 *
 *     struct player *p = player_new(file, &why);             // or NULL, and why not, to be freed
 *     ... the same launches with player_order(p) ...
 *     if (player_wrong(p)) puts(player_wrong(p));
 *     player_free(p);
 *
 * All that an order says by pick(), place(), access(), sync() and idle() is in the file: who goes on and for how long, where CTAs are placed, what it answers to loads
 * and atomics, when it lets stores go. So a run can be had again anywhere, also by a Heddle whose orders draw
 * otherwise. What it counted is not. A launch that is not the one recorded (its kernel, sizes, modules, arguments,
 * memory, GPU, divergence) fails with EMU_BAD_ORDER and says what differs; so does one that comes to another point than
 * the recorded one did, and a file that is damaged or ends early. A file may hold anything: it can make the order do
 * what any order might, and no more.
 *
 * The file: "HEDDLREC", then blocks: four bytes of length, that much content, eight bytes of check over it and all
 * before it (FNV-1a). A block of length 0 is the end. The blocks' contents follow each other as one text: the version,
 * the order's name, its wants and step, and then what the order did, each with how many times it was
 * asked before and answered as expected (enum token in record.c). Numbers are LEB128. */
#ifndef HEDDLE_DETERMINISM_RECORD_RECORD_H
#define HEDDLE_DETERMINISM_RECORD_RECORD_H

#include <stdbool.h>
#include <stdio.h>

struct emu_order;

struct recorder;
/* Of an order whose kind is recorded (orders.h). */
struct recorder *recorder_new(const struct emu_order *in, const char *name, FILE *out);
const struct emu_order *recorder_order(const struct recorder *r);
bool recorder_end(struct recorder *r); /* false: it could not be written */

struct player;
struct player *player_new(FILE *in, char **why);
void player_free(struct player *p); /* NULL is allowed */
const struct emu_order *player_order(const struct player *p);
const char *player_name(const struct player *p); /* of what was recorded */
/* What went wrong; NULL: nothing yet. */
const char *player_wrong(const struct player *p);
/* No launch comes any more: that, or that the recording has more of them. */
const char *player_end(struct player *p);

#endif
