// Shuffles, votes, matches and reductions of warps.
// FLAGS: -arch=compute_80
#include "self.cuh"

template <class T> __global__ void shuffles(T *out, int width)
{
    const int i = threadIdx.x;
    const T mine = (T)(i * i + 1);
    out[5 * i] = __shfl_sync(~0u, mine, 31 - i, width);
    out[5 * i + 1] = __shfl_up_sync(~0u, mine, 3, width);
    out[5 * i + 2] = __shfl_down_sync(~0u, mine, 5, width);
    out[5 * i + 3] = __shfl_xor_sync(~0u, mine, 6, width);
    T sum = mine;
    for (int step = width / 2; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step, width);
    out[5 * i + 4] = sum;
}

template <class T> static void run_shuffles(int width)
{
    room<T> out(5 * 32);
    shuffles<<<1, 32>>>(out.at, width);
    const std::vector<T> got = out.get();
    for (int i = 0; i < 32; i++) {
        const int first = i / width * width;
        const auto of = [](int k) { return (T)(k * k + 1); };
        T sum = 0;
        for (int k = first; k < first + width; k++) sum += of(k);
        CHECK(got[5 * i] == of(first + (31 - i) % width));
        CHECK(got[5 * i + 1] == of(i - 3 >= first ? i - 3 : i));
        CHECK(got[5 * i + 2] == of(i + 5 < first + width ? i + 5 : i));
        const int other = i ^ 6;
        CHECK(got[5 * i + 3] == of(other < first + width ? other : i));
        CHECK(got[5 * i + 4] == sum);
    }
}

__global__ void votes(const int *in, unsigned *out)
{
    const int i = threadIdx.x, v = in[i];
    unsigned *mine = out + 9 * i;
    int all;
    mine[0] = __ballot_sync(~0u, v & 1);
    mine[1] = __any_sync(~0u, v == 3) | __all_sync(~0u, v < 100) << 1;
    mine[2] = __match_any_sync(~0u, v);
    mine[3] = __match_all_sync(~0u, v / 100, &all);
    mine[4] = all;
    mine[5] = __reduce_add_sync(~0u, (unsigned)v);
    mine[6] = __reduce_max_sync(~0u, v - 20);
    mine[7] = __reduce_xor_sync(~0u, (unsigned)v);
    if (v & 1)
        mine[8] = __activemask() == mine[0] ? __reduce_min_sync(mine[0], (unsigned)v) : ~0u;
    else
        mine[8] = __popc(__ballot_sync(~mine[0], 1));
}

__global__ void aggregated(int *count, int *taken)
{
    if (threadIdx.x % 3 == 0) {
        const unsigned active = __activemask(), lane = threadIdx.x % 32;
        const int leader = __ffs(active) - 1;
        int base = 0;
        if (lane == leader) base = atomicAdd(count, __popc(active));
        base = __shfl_sync(active, base, leader);
        taken[base + __popc(active & ((1u << lane) - 1))] = 1;
    }
}

int main()
{
    for (int width = 8; width <= 32; width *= 2) {
        run_shuffles<int>(width);
        run_shuffles<float>(width);
        run_shuffles<double>(width);
        run_shuffles<long long>(width);
    }
    std::vector<int> in(32);
    for (int i = 0; i < 32; i++) in[i] = draw(i) % 10;
    room<int> from(in);
    room<unsigned> out(9 * 32);
    votes<<<1, 32>>>(from, out);
    const std::vector<unsigned> got = out.get();
    unsigned odd = 0, sum = 0, all = 0, least = ~0u, even = 0;
    int most = -1000, three = 0;
    for (int i = 0; i < 32; i++) {
        odd |= (unsigned)(in[i] & 1) << i;
        three |= in[i] == 3;
        sum += in[i];
        all ^= in[i];
        most = in[i] - 20 > most ? in[i] - 20 : most;
        if (in[i] & 1 && (unsigned)in[i] < least) least = in[i];
        even += !(in[i] & 1);
    }
    for (int i = 0; i < 32; i++) {
        unsigned same = 0;
        for (int k = 0; k < 32; k++) same |= (unsigned)(in[k] == in[i]) << k;
        const unsigned want[] = {odd, three | 2u, same, ~0u, 1, sum, (unsigned)most, all, in[i] & 1 ? least : even};
        for (int k = 0; k < 9; k++) CHECK(got[9 * i + k] == want[k]);
    }
    room<int> count(1), taken(128);
    aggregated<<<2, 128>>>(count, taken);
    const int both = 2 * 43;
    CHECK(count.get()[0] == both);
    std::vector<int> full(128, 0);
    for (int i = 0; i < both; i++) full[i] = 1;
    CHECK(taken.get() == full);
    return verdict();
}
