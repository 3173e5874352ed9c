// Graph algorithms that push floats to their neighbours by atomics, a thread a node. No kernel reads a word
// that it adds to or stores to in another thread: with the order of the atomics fixed, all is.

// next[w] += rank[v] / degree of v, for every edge from v to w.
extern "C" __global__ void rank_push(unsigned nodes, const unsigned *row, const unsigned *column,
                                     const float *rank, float *next)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    unsigned begin = row[v], end = row[v + 1];
    if (begin == end) return;
    float share = rank[v] / (float)(end - begin);
    for (unsigned i = begin; i < end; i++) atomicAdd(&next[column[i]], share);
}

extern "C" __global__ void rank_damp(unsigned nodes, float *rank, float *next)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    rank[v] = 0.15f / (float)nodes + 0.85f * next[v];
    next[v] = 0;
}

// Betweenness, forward: nodes at the level add their number of shortest paths to neighbours that are not
// reached yet; distance is ~0 there.
extern "C" __global__ void paths_push(unsigned nodes, const unsigned *row, const unsigned *column,
                                      unsigned level, const unsigned *distance, unsigned *found,
                                      float *paths)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || distance[v] != level) return;
    float own = paths[v];
    for (unsigned i = row[v]; i < row[v + 1]; i++) {
        unsigned w = column[i];
        if (distance[w] != ~0u) continue;
        atomicOr(&found[w], 1);
        atomicAdd(&paths[w], own);
    }
}

extern "C" __global__ void paths_settle(unsigned nodes, unsigned level, unsigned *distance,
                                        const unsigned *found, unsigned *over)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !found[v] || distance[v] != ~0u) return;
    distance[v] = level + 1;
    atomicOr(over, 1);
}

// Backward, over the edges turned around: nodes at the level hand on what depends on them.
extern "C" __global__ void depends_push(unsigned nodes, const unsigned *row, const unsigned *column,
                                        unsigned level, const unsigned *distance,
                                        const float *paths, float *depends, float *score)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || distance[v] != level) return;
    float own = depends[v], each = (1 + own) / paths[v];
    for (unsigned i = row[v]; i < row[v + 1]; i++) {
        unsigned w = column[i];
        if (distance[w] == level - 1) atomicAdd(&depends[w], paths[w] * each);
    }
    score[v] += own;
}

// Betweenness in two kernels, as suites of graph programs have it. Forward: nodes at the level push their number of
// shortest paths to neighbours of the next level. All threads that find a node store the same distance to it.
extern "C" __global__ void between_forward(unsigned nodes, const unsigned *row, const unsigned *column,
                                           int level, int *distance, float *paths, int *more)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || distance[v] != level) return;
    unsigned end = row[v + 1];
#pragma unroll 1
    for (unsigned i = row[v]; i < end; i++) {
        unsigned w = column[i];
        if (distance[w] < 0) {
            distance[w] = level + 1;
            *more = 1;
        }
        if (distance[w] == level + 1) atomicAdd(&paths[w], paths[v]);
    }
}

// Backward, over the edges turned around: nodes of the level push what depends on them to those before.
extern "C" __global__ void between_back(unsigned nodes, const unsigned *row, const unsigned *column,
                                        int level, const int *distance, const float *paths,
                                        float *depends)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || distance[v] != level) return;
    unsigned end = row[v + 1];
#pragma unroll 1
    for (unsigned i = row[v]; i < end; i++) {
        unsigned w = column[i];
        if (distance[w] == level - 1) atomicAdd(&depends[w], paths[w] / paths[v] * (1 + depends[v]));
    }
}

extern "C" __global__ void between_add(unsigned nodes, unsigned source, const float *depends,
                                       float *score)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < nodes && v != source) score[v] += depends[v];
}
