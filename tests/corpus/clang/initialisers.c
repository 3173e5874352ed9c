// Global initialisers in C: nested structs, pointers to globals and functions, generic() casts, packed bytes, common symbols.
// KEEP: 35 32=20
// VARIANT: 32 --target=nvptx-nvidia-cuda
struct Leaf {
    char tag;
    short w[3];
    double d;
};
struct Tree {
    const char *name;
    struct Leaf leaf[2];
    const struct Tree *left, *right;
    int (*visit)(int);
    unsigned flags : 5, rest : 27;
};

static int increment(int x) { return x + 1; }
int decrement(int x) { return x - 1; }

const char greeting[] = "hello, \"device\"\n";
const struct Tree only_child = {greeting, {{'o'}}, 0, 0, 0, 0, 9};
const struct Tree other_child = {"other", {{1}}, 0, &only_child, decrement, 0, 1};
const struct Tree kids[2] = {
    {"left", {{'l', {1, 2, 3}, 0.5}, {'m', {-1}, 1e300}}, 0, 0, increment, 3, 4},
    {greeting, {{'r', {7, 8, 9}, -0.0}}, &only_child, 0, decrement, 31, 5},
};
const struct Tree root = {"root", {{0}}, &other_child, &only_child, 0, 1, 2};

int common_symbol;
double zeroes[1000];
int table[3][4] = {{1, 2, 3, 4}, {5}, {9, 10}};
int *into = table[0];
const char zero[] = "zero", one[] = "one";
const char *const names[] = {zero, one, greeting, 0};
int (*const dispatch[])(int) = {increment, decrement};
struct __attribute__((packed)) Odd {
    char a;
    int b;
    long long c;
} odd = {1, 0x01020304, -2};
float infinities[4] = {__builtin_inff(), -__builtin_inff(), 1e-45f, 0x1.8p3f};
_Bool truths[3] = {1, 0, 1};
unsigned long long wide = 0x8000000000000000ull;
union {
    float f;
    int i[2];
} either = {.i = {1, 2}};

int walk(int k)
{
    int s = table[k % 3][k & 3] + *into + odd.b + truths[k % 3] + either.i[1] + common_symbol++;
    for (const struct Tree *t = &root; t; t = k-- > 0 ? t->left : t->right)
        s += t->leaf[k & 1].w[k % 3] + t->name[0] + (t->visit ? t->visit(s) : 0) + t->flags + kids[k & 1].rest;
    s += dispatch[k & 1](s) + names[k & 3][0] + (int)zeroes[k] + (int)infinities[k & 3] + (int)wide;
    return s;
}
