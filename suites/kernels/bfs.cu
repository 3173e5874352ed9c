// Breadth-first search, a thread a node; flags are 32-bit words. cost is ~0 for nodes not reached.

// BFSr: the kernel of Harish and Narayanan as the GPUDet thesis shows it. It races with itself: a thread
// may see the active flag and the cost that a neighbour sets in the same launch.
extern "C" __global__ void bfs_racy(unsigned nodes, const unsigned *row, const unsigned *column,
                                    unsigned *active, unsigned *visited, unsigned *cost, unsigned *over)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= nodes || !active[t]) return;
    active[t] = 0;
    visited[t] = 1;
    for (unsigned i = row[t]; i < row[t + 1]; i++) {
        unsigned id = column[i];
        if (!visited[id]) {
            cost[id] = cost[t] + 1;
            active[id] = 1;
            *over = 1;
        }
    }
}

// As in Rodinia: the next frontier is marked apart and becomes active in a second kernel. All writers
// of a cost write the same; of a parent they do not, and one of them wins.
extern "C" __global__ void bfs_expand(unsigned nodes, const unsigned *row, const unsigned *column,
                                      unsigned *active, const unsigned *visited, unsigned *updating,
                                      unsigned *cost, unsigned *parent)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= nodes || !active[t]) return;
    active[t] = 0;
    for (unsigned i = row[t]; i < row[t + 1]; i++) {
        unsigned id = column[i];
        if (!visited[id]) {
            cost[id] = cost[t] + 1;
            parent[id] = t;
            updating[id] = 1;
        }
    }
}

// The same with the least parent: every schedule leaves the same bytes.
extern "C" __global__ void bfs_expand_min(unsigned nodes, const unsigned *row, const unsigned *column,
                                          unsigned *active, const unsigned *visited, unsigned *updating,
                                          unsigned *cost, unsigned *parent)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= nodes || !active[t]) return;
    active[t] = 0;
    unsigned next = cost[t] + 1;
    for (unsigned i = row[t]; i < row[t + 1]; i++) {
        unsigned id = column[i];
        if (!visited[id]) {
            atomicMin(&cost[id], next);
            atomicMin(&parent[id], t);
            atomicOr(&updating[id], 1);
        }
    }
}

extern "C" __global__ void bfs_advance(unsigned nodes, unsigned *active, unsigned *visited,
                                       unsigned *updating, unsigned *over)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= nodes || !updating[t]) return;
    updating[t] = 0;
    active[t] = 1;
    visited[t] = 1;
    *over = 1;
}
