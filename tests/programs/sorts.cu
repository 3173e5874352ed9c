// Sorts: a network in shared memory, merges by rank, radix by scans of digits, odd-even between blocks.
#include "self.cuh"
#include <algorithm>

__global__ void network(int *a, int n)
{
    extern __shared__ int tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = a[i];
    __syncthreads();
    for (int size = 2; size <= n; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            for (int i = threadIdx.x; i < n; i += blockDim.x) {
                const int k = i ^ step;
                if (k > i && (tile[i] > tile[k]) == ((i & size) == 0)) {
                    const int t = tile[i];
                    tile[i] = tile[k];
                    tile[k] = t;
                }
            }
            __syncthreads();
        }
    for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = tile[i];
}

__device__ int rank_of(const int *a, int n, int v, bool equal_too)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        const int mid = (lo + hi) / 2;
        if (a[mid] < v || (equal_too && a[mid] == v)) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

__global__ void merge(const int *in, int *out, int n, int width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int pair = i / (2 * width) * 2 * width, mid = min(pair + width, n), end = min(pair + 2 * width, n);
    const bool left = i < mid;
    const int other = left ? rank_of(in + mid, end - mid, in[i], false) : rank_of(in + pair, mid - pair, in[i], true);
    out[left ? i + other : i - (mid - pair) + other] = in[i];
}

__global__ void digit(const unsigned *keys, const int *values, unsigned *out, int *moved, int n, int shift)
{
    __shared__ unsigned counts[16][64], starts[16];
    const int each = (n + 63) / 64, first = threadIdx.x * each, last = min(first + each, n);
    for (int d = 0; d < 16; d++) counts[d][threadIdx.x] = 0;
    for (int i = first; i < last; i++) counts[keys[i] >> shift & 15][threadIdx.x]++;
    __syncthreads();
    if (threadIdx.x < 16) {
        unsigned sum = 0;
        for (int t = 0; t < 64; t++) {
            const unsigned c = counts[threadIdx.x][t];
            counts[threadIdx.x][t] = sum;
            sum += c;
        }
        starts[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int d = 0; d < 16; d++) {
            const unsigned c = starts[d];
            starts[d] = sum;
            sum += c;
        }
    }
    __syncthreads();
    for (int i = first; i < last; i++) {
        const unsigned d = keys[i] >> shift & 15, at = starts[d] + counts[d][threadIdx.x]++;
        out[at] = keys[i];
        moved[at] = values[i];
    }
}

int main()
{
    const int n = 1024;
    std::vector<int> a(n), b;
    for (int i = 0; i < n; i++) a[i] = draw(i) % 5000;
    b = a;
    std::sort(b.begin(), b.end());
    room<int> x(a), y(n);
    network<<<1, 256, n * sizeof(int)>>>(x, n);
    CHECK(x.get() == b);

    const int m = 3000;
    std::vector<int> c(m), d;
    for (int i = 0; i < m; i++) c[i] = draw(i + 5) % 700;
    d = c;
    std::sort(d.begin(), d.end());
    room<int> p(c), q(m);
    int *from = p, *to = q;
    for (int width = 1; width < m; width *= 2) {
        merge<<<(m + 127) / 128, 128>>>(from, to, m, width);
        std::swap(from, to);
    }
    std::vector<int> got(m);
    OK(cudaMemcpy(got.data(), from, m * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(got == d);

    std::vector<unsigned> keys(m), sorted;
    std::vector<int> places(m);
    for (int i = 0; i < m; i++) keys[i] = draw(i) % 100000, places[i] = i;
    std::vector<int> order = places;
    std::stable_sort(order.begin(), order.end(), [&](int i, int k) { return keys[i] < keys[k]; });
    room<unsigned> k1(keys), k2(m);
    room<int> v1(places), v2(m);
    for (int shift = 0; shift < 20; shift += 8) {
        digit<<<1, 64>>>(k1, v1, k2, v2, m, shift);
        digit<<<1, 64>>>(k2, v2, k1, v1, m, shift + 4);
    }
    CHECK(v1.get() == order);
    sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    CHECK(k1.get() == sorted);
    return verdict();
}
