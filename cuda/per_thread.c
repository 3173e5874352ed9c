/* The driver API of programs compiled with -default-stream per-thread: the NULL stream is the default stream of the
 * calling thread. */
#include "cuda/per_thread.h"
#include "cuda/queue.h"

#define OWN(call)                                                                                  \
    stream_null_is(CU_STREAM_PER_THREAD);                                                          \
    const CUresult r = (call);                                                                     \
    stream_null_is(CU_STREAM_LEGACY);                                                              \
    return r;

#define OF1(name, function, A)                                                                     \
    CUresult name(A a);                                                                            \
    CUresult name(A a)                                                                             \
    {                                                                                              \
        OWN(function(a))                                                                           \
    }
#define OF2(name, function, A, B)                                                                  \
    CUresult name(A a, B b);                                                                       \
    CUresult name(A a, B b)                                                                        \
    {                                                                                              \
        OWN(function(a, b))                                                                        \
    }
#define OF3(name, function, A, B, C)                                                               \
    CUresult name(A a, B b, C c);                                                                  \
    CUresult name(A a, B b, C c)                                                                   \
    {                                                                                              \
        OWN(function(a, b, c))                                                                     \
    }
#define OF4(name, function, A, B, C, D)                                                            \
    CUresult name(A a, B b, C c, D d);                                                             \
    CUresult name(A a, B b, C c, D d)                                                              \
    {                                                                                              \
        OWN(function(a, b, c, d))                                                                  \
    }
#define OF5(name, function, A, B, C, D, E)                                                         \
    CUresult name(A a, B b, C c, D d, E e);                                                        \
    CUresult name(A a, B b, C c, D d, E e)                                                         \
    {                                                                                              \
        OWN(function(a, b, c, d, e))                                                               \
    }
#define OF6(name, function, A, B, C, D, E, F)                                                      \
    CUresult name(A a, B b, C c, D d, E e, F f);                                                   \
    CUresult name(A a, B b, C c, D d, E e, F f)                                                    \
    {                                                                                              \
        OWN(function(a, b, c, d, e, f))                                                            \
    }
#define OF7(name, function, A, B, C, D, E, F, G)                                                   \
    CUresult name(A a, B b, C c, D d, E e, F f, G g);                                              \
    CUresult name(A a, B b, C c, D d, E e, F f, G g)                                               \
    {                                                                                              \
        OWN(function(a, b, c, d, e, f, g))                                                         \
    }
#define OF8(name, function, A, B, C, D, E, F, G, H)                                                \
    CUresult name(A a, B b, C c, D d, E e, F f, G g, H h);                                         \
    CUresult name(A a, B b, C c, D d, E e, F f, G g, H h)                                          \
    {                                                                                              \
        OWN(function(a, b, c, d, e, f, g, h))                                                      \
    }
#define OF9(name, function, A, B, C, D, E, F, G, H, I)                                             \
    CUresult name(A a, B b, C c, D d, E e, F f, G g, H h, I i);                                    \
    CUresult name(A a, B b, C c, D d, E e, F f, G g, H h, I i)                                     \
    {                                                                                              \
        OWN(function(a, b, c, d, e, f, g, h, i))                                                   \
    }
#define OF10(name, function, A, B, C, D, E, F, G, H, I, J)                                         \
    CUresult name(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j);                               \
    CUresult name(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j)                                \
    {                                                                                              \
        OWN(function(a, b, c, d, e, f, g, h, i, j))                                                \
    }
#define OF11(name, function, A, B, C, D, E, F, G, H, I, J, K)                                      \
    CUresult name(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k);                          \
    CUresult name(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k)                           \
    {                                                                                              \
        OWN(function(a, b, c, d, e, f, g, h, i, j, k))                                             \
    }

#define COUNT(a, b, c, d, e, f, g, h, i, j, k, n, ...) n
#define OF(n) OF##n
#define DEFINE_AS(n, ...) OF(n)(__VA_ARGS__)
#define DEFINE(name, function, ...)                                                                \
    DEFINE_AS(COUNT(__VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), name, function, __VA_ARGS__)

/* The aliases of cuda_api.h must not rename functions. */
#include "cuda/exact_names.h"

#pragma GCC visibility push(default)
#define PTSZ(function, ...) DEFINE(function##_ptsz, function, __VA_ARGS__)
#define PTDS(function, ...) DEFINE(function##_ptds, function, __VA_ARGS__)
#include "cuda/per_thread.def"
#undef PTSZ
#undef PTDS
#pragma GCC visibility pop

static const struct {
    entry_point *function, *own;
} table[] = {
#define PTSZ(function, ...) {(entry_point *)(function), (entry_point *)function##_ptsz},
#define PTDS(function, ...) {(entry_point *)(function), (entry_point *)function##_ptds},
#include "cuda/per_thread.def"
};

entry_point *per_thread_of(entry_point *function)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].function == function) return table[i].own;
    return function;
}
