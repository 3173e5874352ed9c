// Debug info by clang (-g): .file/.loc, .section .debug_abbrev/.debug_info/.debug_macinfo with labels and .b8/.b32/.b64 data.
// KEEP: 35 O0=60 lines=30 32=20
// FLAGS: -g -gdwarf-2 -fdebug-compilation-dir=corpus
// VARIANT: O0 -O0
// VARIANT: lines -O1 -gline-tables-only -gdwarf-2
// VARIANT: 32 --target=nvptx-nvidia-cuda
struct Point {
    int x, y;
    struct Point *next;
};
enum Colour { RED, GREEN = 5, BLUE };
static int total;
static const enum Colour favourite = BLUE;

static int distance(const struct Point *p)
{
    int dx = p->x < 0 ? -p->x : p->x;
    int dy = p->y < 0 ? -p->y : p->y;
    return dx + dy;
}

int furthest(const struct Point *p, enum Colour c)
{
    int best = 0;
    for (; p; p = p->next) {
        int d = distance(p);
        if (d > best)
            best = d;
    }
    total += best;
    return c == favourite ? total : best;
}
