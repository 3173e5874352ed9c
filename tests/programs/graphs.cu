// Algorithms on graphs: breadth-first search by levels and by a queue, connected components, shortest paths.
#include "self.cuh"
#include <queue>

struct graph {
    int n;
    std::vector<int> first, to, weight;
};

static graph draw_graph(int n, int degree, unsigned seed)
{
    graph g = {n, {}, {}, {}};
    std::vector<std::vector<int>> all(n);
    for (int i = 0; i < n * degree / 2; i++) {
        const int a = draw(seed + 2 * i) % n, b = draw(seed + 2 * i + 1) % n;
        all[a].push_back(b);
        all[b].push_back(a);
    }
    for (int i = 0; i < n; i++) {
        g.first.push_back(g.to.size());
        for (int k : all[i]) {
            g.to.push_back(k);
            g.weight.push_back(1 + (i + k) % 9);
        }
    }
    g.first.push_back(g.to.size());
    return g;
}

__global__ void level(const int *first, const int *to, int *depth, int n, int now, int *changed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || atomicAdd(&depth[i], 0) != now) return;
    for (int e = first[i]; e < first[i + 1]; e++)
        if (atomicCAS(&depth[to[e]], -1, now + 1) == -1) atomicExch(changed, 1);
}

__global__ void expand(const int *first, const int *to, int *depth, const int *queue, int count, int *next, int *size, int now)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (int e = first[queue[i]]; e < first[queue[i] + 1]; e++)
        if (atomicCAS(&depth[to[e]], -1, now + 1) == -1) next[atomicAdd(size, 1)] = to[e];
}

__global__ void link(const int *first, const int *to, int *label, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int e = first[i]; e < first[i + 1]; e++) {
        int a = i, b = to[e];
        for (;;) { // hang the larger root below the smaller
            while (atomicAdd(&label[a], 0) != a) a = atomicAdd(&label[a], 0);
            while (atomicAdd(&label[b], 0) != b) b = atomicAdd(&label[b], 0);
            if (a == b) break;
            const int high = max(a, b), low = min(a, b);
            if (atomicCAS(&label[high], high, low) == high) break;
        }
    }
}

__global__ void flatten(int *label, int *flat, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = i;
    while (label[a] != a) a = label[a];
    flat[i] = a;
}

__global__ void relax(const int *first, const int *to, const int *weight, int *distance, int n, int *changed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int mine = atomicAdd(&distance[i], 0);
    if (mine == 1 << 29) return;
    for (int e = first[i]; e < first[i + 1]; e++)
        if (atomicMin(&distance[to[e]], mine + weight[e]) > mine + weight[e]) atomicExch(changed, 1);
}

int main()
{
    const graph g = draw_graph(700, 3, 17);
    const int n = g.n, blocks = (n + 127) / 128;
    room<int> first(g.first), to(g.to), weight(g.weight), changed(1), a(n), b(n);

    std::vector<int> want(n, -1), start(n, -1);
    std::queue<int> queue;
    want[0] = start[0] = 0;
    for (queue.push(0); !queue.empty(); queue.pop())
        for (int e = g.first[queue.front()]; e < g.first[queue.front() + 1]; e++)
            if (want[g.to[e]] < 0) {
                want[g.to[e]] = want[queue.front()] + 1;
                queue.push(g.to[e]);
            }
    room<int> depth(start);
    for (int now = 0, more = 1; more; now++) {
        OK(cudaMemset(changed, 0, sizeof(int)));
        level<<<blocks, 128>>>(first, to, depth, n, now, changed);
        more = changed.get()[0];
    }
    CHECK(depth.get() == want);

    room<int> again(start);
    int count = 1, *from = a, *next = b;
    OK(cudaMemset(from, 0, sizeof(int)));
    for (int now = 0; count; now++) {
        OK(cudaMemset(changed, 0, sizeof(int)));
        expand<<<(count + 63) / 64, 64>>>(first, to, again, from, count, next, changed, now);
        count = changed.get()[0];
        std::swap(from, next);
    }
    CHECK(again.get() == want);

    std::vector<int> own(n), roots(n);
    for (int i = 0; i < n; i++) own[i] = roots[i] = i;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++)
            for (int e = g.first[i]; e < g.first[i + 1]; e++)
                if (roots[g.to[e]] < roots[i]) roots[i] = roots[g.to[e]], more = true;
    }
    room<int> label(own), flat(n);
    link<<<blocks, 128>>>(first, to, label, n);
    flatten<<<blocks, 128>>>(label, flat, n);
    CHECK(flat.get() == roots);

    std::vector<int> far(n, 1 << 29), shortest;
    far[5] = 0;
    room<int> distance(far);
    for (int more = 1; more;) {
        OK(cudaMemset(changed, 0, sizeof(int)));
        relax<<<blocks, 128>>>(first, to, weight, distance, n, changed);
        more = changed.get()[0];
    }
    shortest = far;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++)
            for (int e = g.first[i]; e < g.first[i + 1]; e++)
                if (shortest[i] + g.weight[e] < shortest[g.to[e]]) shortest[g.to[e]] = shortest[i] + g.weight[e], more = true;
    }
    CHECK(distance.get() == shortest);
    return verdict();
}
