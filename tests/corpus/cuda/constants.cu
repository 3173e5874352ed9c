// Initialised variables: __constant__/__device__ tables, structs, strings, pointers to other variables and to functions.
// KEEP: 75 90
struct Node {
    const char *name;
    const Node *next;
    double weight;
    short tags[3];
    bool leaf;
};

__device__ const char text[] = "heddle\n\t\"quoted\" \\ \x01\xff";
__device__ float matrix[3][4] = {{1, 2, 3, 4}, {0.5f, -0.25f, 1e30f}, {__builtin_inff(), -0.0f, 1e-40f, 3.14159274f}};
__device__ long long big[4] = {-1, 0x7fffffffffffffffLL, -0x7fffffffffffffffLL - 1, 42};
__constant__ unsigned char bytes[300] = {1, 2, 3, 255};
__constant__ double coefficient = 0.1;
extern __device__ const Node tail;
__device__ const Node head = {text + 2, &tail, 1.5, {1, -2, 3}, false};
__device__ const Node tail = {text, nullptr, -2.25, {7}, true};
__device__ const Node *list[3] = {&head, &tail, nullptr};
__constant__ int *where = nullptr;
__device__ int target[16] = {9};
__device__ int *const inside = target + 5;
__device__ unsigned long long uninitialised[64];
__device__ __align__(64) int aligned = 7;

__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
typedef int (*Op)(int, int);
__device__ Op table[2] = {plus, times};
__constant__ Op fixed[2] = {times, plus};

union Bits {
    float f;
    unsigned u;
};
__device__ Bits bits = {1.0f};
struct Empty {};
__device__ Empty nothing;
__device__ volatile int noisy = 1;
__device__ bool flags[5] = {true, false, true};
__device__ char16_t wide[] = u"ab";

extern "C" __global__ void walk(double *o, int i)
{
    double sum = coefficient + matrix[i % 3][i & 3] + bytes[i] + big[i & 3];
    for (const Node *n = list[i & 1]; n; n = n->next)
        sum += n->weight * n->tags[i % 3] + n->name[0] + n->leaf;
    sum += table[i & 1](i, 3) + fixed[i & 1](i, 4);
    sum += *inside + (where ? *where : 0) + uninitialised[i] + aligned + bits.u + noisy + flags[i % 5] + wide[i & 1];
    *o = sum;
    noisy = i;
    nothing = Empty{};
}
