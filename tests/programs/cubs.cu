// CUB: over the device radix sort, scan, reduce, select, histogram, runs, partition; in blocks and warps.
#include "self.cuh"
#include <algorithm>
#include <cub/cub.cuh>

/* An algorithm asks first for room. */
template <class F> static void with_room(F call)
{
    size_t size = 0;
    OK(call(nullptr, size));
    room<char> temporary(size + 1);
    OK(call(temporary.at, size));
}

template <int THREADS, int ITEMS> __global__ void in_blocks(const int *in, int *out, int *sums)
{
    typedef cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE> load;
    typedef cub::BlockRadixSort<int, THREADS, ITEMS> sort;
    typedef cub::BlockScan<int, THREADS> scan;
    typedef cub::BlockReduce<int, THREADS> reduce;
    typedef cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE> store;
    __shared__ union {
        typename load::TempStorage load;
        typename sort::TempStorage sort;
        typename scan::TempStorage scan;
        typename reduce::TempStorage reduce;
        typename store::TempStorage store;
    } room;
    int items[ITEMS], before[ITEMS], total;
    load(room.load).Load(in + blockIdx.x * THREADS * ITEMS, items);
    __syncthreads();
    sort(room.sort).Sort(items);
    __syncthreads();
    scan(room.scan).ExclusiveSum(items, before, total);
    __syncthreads();
    const int most = reduce(room.reduce).Reduce(items[ITEMS - 1], [](int a, int b) { return a > b ? a : b; });
    __syncthreads();
    store(room.store).Store(out + blockIdx.x * THREADS * ITEMS, before);
    if (threadIdx.x == 0) sums[2 * blockIdx.x] = total, sums[2 * blockIdx.x + 1] = most;
}

__global__ void in_warps(const float *in, float *out)
{
    __shared__ cub::WarpReduce<float>::TempStorage reduce[2];
    __shared__ cub::WarpScan<float>::TempStorage scan[2];
    const int warp = threadIdx.x / 32;
    float sum = cub::WarpReduce<float>(reduce[warp]).Sum(in[threadIdx.x]), upto;
    cub::WarpScan<float>(scan[warp]).InclusiveSum(in[threadIdx.x], upto);
    out[threadIdx.x] = threadIdx.x % 32 ? upto : sum;
}

struct above {
    int limit;
    __host__ __device__ bool operator()(int x) const { return x > limit; }
};

int main()
{
    const int n = 5000;
    std::vector<int> v(n), values(n), out;
    for (int i = 0; i < n; i++) v[i] = (int)(draw(i) % 600) - 300, values[i] = i;
    room<int> in(v), to(n), from_values(values), to_values(n), few(2);

    with_room([&](void *t, size_t &size) { return cub::DeviceRadixSort::SortPairs(t, size, in.at, to.at, from_values.at, to_values.at, n); });
    std::vector<int> order = values, sorted = v;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return v[a] < v[b]; });
    std::sort(sorted.begin(), sorted.end());
    CHECK(to.get() == sorted && to_values.get() == order);

    std::vector<int> lengths, which;
    for (int i = 0; i < n; i++)
        if (i && sorted[i] == sorted[i - 1]) lengths.back()++;
        else lengths.push_back(1), which.push_back(sorted[i]);
    room<int> runs(n), keys(n);
    with_room([&](void *t, size_t &size) { return cub::DeviceRunLengthEncode::Encode(t, size, to.at, keys.at, runs.at, few.at, n); });
    const int count = few.get()[0];
    out = runs.get();
    CHECK(count == (int)which.size() && std::equal(lengths.begin(), lengths.end(), out.begin()));
    out = keys.get();
    CHECK(std::equal(which.begin(), which.end(), out.begin()));

    with_room([&](void *t, size_t &size) { return cub::DeviceScan::ExclusiveSum(t, size, in.at, to.at, n); });
    out = to.get();
    int sum = 0, bad = 0;
    for (int i = 0; i < n; sum += v[i++]) bad += out[i] != sum;
    CHECK(bad == 0);
    with_room([&](void *t, size_t &size) { return cub::DeviceReduce::Sum(t, size, in.at, few.at, n); });
    CHECK(few.get()[0] == sum);
    with_room([&](void *t, size_t &size) { return cub::DeviceReduce::Min(t, size, in.at, few.at, n); });
    CHECK(few.get()[0] == sorted[0]);

    with_room([&](void *t, size_t &size) { return cub::DeviceSelect::If(t, size, in.at, to.at, few.at, n, above{100}); });
    std::vector<int> chosen;
    std::copy_if(v.begin(), v.end(), std::back_inserter(chosen), above{100});
    out = to.get();
    CHECK(few.get()[0] == (int)chosen.size() && std::equal(chosen.begin(), chosen.end(), out.begin()));
    with_room([&](void *t, size_t &size) { return cub::DevicePartition::If(t, size, in.at, to.at, few.at, n, above{0}); });
    out = to.get();
    std::stable_partition(chosen.begin(), chosen.end(), above{0});
    CHECK(few.get()[0] == (int)std::count_if(v.begin(), v.end(), above{0}) && out[0] > 0 && out[n - 1] <= 0);

    room<int> bins(60);
    with_room([&](void *t, size_t &size) { return cub::DeviceHistogram::HistogramEven(t, size, in.at, bins.at, 61, -300, 300, n); });
    std::vector<int> counts(60);
    for (int x : v) counts[(x + 300) / 10]++;
    CHECK(bins.get() == counts);

    room<int> prefix(n), sums(2 * 4);
    in_blocks<64, 4><<<4, 64>>>(in, prefix, sums);
    out = prefix.get();
    for (int b = 0; b < 4; b++) {
        std::vector<int> part(v.begin() + b * 256, v.begin() + (b + 1) * 256);
        std::sort(part.begin(), part.end());
        int total = 0, different = 0;
        for (int i = 0; i < 256; total += part[i++]) different += out[b * 256 + i] != total;
        CHECK(different == 0 && sums.get()[2 * b] == total && sums.get()[2 * b + 1] == part[255]);
    }
    std::vector<float> f(64);
    for (int i = 0; i < 64; i++) f[i] = draw(i) % 50;
    room<float> floats(f), both(64);
    in_warps<<<1, 64>>>(floats, both);
    for (int w = 0; w < 2; w++) {
        float upto = 0, all = 0;
        for (int i = 0; i < 32; i++) all += f[32 * w + i];
        for (int i = 0; i < 32; i++) {
            upto += f[32 * w + i];
            CHECK(both.get()[32 * w + i] == (i ? upto : all));
        }
    }
    return verdict();
}
