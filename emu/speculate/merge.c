/* Joins the tags of the host threads of a conflict-free run after all have ended (ownership.h).
 *
 * The tags of an allocation are joined thread by thread: the tags of the second thread are joined to those of the first
 * thread that has any, then those of the third. Two tags of one word are compatible if both are of loads, or both of
 * reductions of one kind; any other two are a conflict. Two loads give the tag of a load. */
#include "emu/speculate/ownership.h"

/* Whether two threads' tags of a word conflict. A tag of a change is odd. */
static bool conflicts(u32 a, u32 b)
{
    const bool alike = a == b && a >= TAG_REDUCED && a < TAG_FIRST;
    return a && b && (a | b) & 1 && !alike;
}

static u32 word_tag(const struct tagged_allocation *b, u64 chunk, u32 word)
{
    const u32 all = b->of_chunk[chunk];
    if (all >= TAG_BY_WORDS) return b->tags[chunk * TAG_WORDS + word];
    if (all >= TAG_ONCE) return all >> (word + 1) & 1 ? TAG_SOMEBODY : 0;
    return all;
}

/* Joins the tags of a chunk that both have into those of a. Whether they conflict. */
static bool join_chunk(struct tagged_allocation *a, const struct tagged_allocation *b, u64 chunk)
{
    u32 *const of = &a->of_chunk[chunk];
    const u32 other = b->of_chunk[chunk];
    if (*of < TAG_ONCE && other < TAG_ONCE) return conflicts(*of, other);
    u32 joined[TAG_WORDS];
    for (u32 w = 0; w < TAG_WORDS; w++) {
        const u32 x = word_tag(a, chunk, w), y = word_tag(b, chunk, w);
        if (conflicts(x, y)) return true;
        joined[w] = x ? x : y;
    }
    for (u32 w = 0; w < TAG_WORDS; w++) a->tags[chunk * TAG_WORDS + w] = joined[w];
    *of = TAG_BY_WORDS;
    return false;
}

static bool join(struct tagged_allocation *a, const struct tagged_allocation *b)
{
    const u64 chunks = (a->high - a->low) / TAG_CHUNK + 1;
    for (u64 c = 0; c < chunks; c++) {
        if (!b->of_chunk[c]) continue;
        if (a->of_chunk[c]) {
            if (join_chunk(a, b, c)) return true;
            continue;
        }
        a->of_chunk[c] = b->of_chunk[c];
        for (u32 w = 0; b->of_chunk[c] >= TAG_BY_WORDS && w < TAG_WORDS; w++)
            a->tags[c * TAG_WORDS + w] = b->tags[c * TAG_WORDS + w];
    }
    return false;
}

static struct tagged_allocation *of_thread(const struct conflict_free *p,
                                           const struct allocation_record *r)
{
    for (u32 i = 0; i < p->count; i++)
        if (p->list[i]->record == r) return p->list[i];
    return NULL;
}

/* Where the threads' uses of an allocation do not go together, what was without tags gets some in the next run. */
static void tag_sites(struct conflict_free_run *run, const struct allocation_record *r)
{
    const u32 sites = run->m->program->site_count;
    u32 reduced = 0;
    bool differ = uses_conflict(atomic_load(&r->uses));
    for (u32 t = 0; t < run->thread_count; t++) {
        const struct tagged_allocation *const b = of_thread(run->threads[t], r);
        if (!b || !b->reduced) continue;
        differ |= reduced && reduced != b->reduced;
        reduced = b->reduced;
    }
    for (u32 t = 0; t < run->thread_count && differ; t++) {
        const struct tagged_allocation *const b = of_thread(run->threads[t], r);
        for (u32 i = 0; b && i < sites; i++) run->tagged[i] |= b->loaded_by[i];
    }
}

static bool words_conflict(struct conflict_free_run *run, const struct allocation_record *r)
{
    struct tagged_allocation *all = NULL;
    for (u32 t = 0; t < run->thread_count; t++) {
        struct tagged_allocation *const b = of_thread(run->threads[t], r);
        if (!b || !b->of_chunk) continue;
        if (all && join(all, b)) return true;
        if (!all) all = b;
    }
    return false;
}

bool tags_conflict(struct conflict_free_run *run, bool failed)
{
    const u32 tagged = run->m->program->site_count + TAG_KINDS;
    for (u32 t = 0; t < run->thread_count; t++)
        for (u32 i = 0; i < tagged; i++)
            if (run->threads[t]->tagged[i] > run->tagged[i])
                run->tagged[i] = run->threads[t]->tagged[i];
    for (u32 i = 0; i < run->count && run->thread_count > 1; i++) {
        tag_sites(run, run->list[i]);
        failed = failed || words_conflict(run, run->list[i]);
    }
    return failed;
}
