// malloc, free, new and delete of the device: lists, trees, memory that lives on, memory that runs out.
#include "self.cuh"
#include <new>

struct node {
    int value;
    node *next;
};
__device__ node *heads[64];

__global__ void push(int rounds)
{
    for (int r = 0; r < rounds; r++) {
        node *n = (node *)malloc(sizeof *n);
        if (!n) __trap();
        n->value = threadIdx.x * 100 + r;
        n->next = heads[threadIdx.x];
        heads[threadIdx.x] = n;
    }
}

__global__ void pop(int *sums)
{
    int sum = 0;
    while (heads[threadIdx.x]) {
        node *n = heads[threadIdx.x];
        sum = sum * 3 + n->value;
        heads[threadIdx.x] = n->next;
        free(n);
    }
    sums[threadIdx.x] = sum;
}

struct tree {
    int key;
    tree *left = nullptr, *right = nullptr;
    __device__ explicit tree(int key) : key(key) {}
    __device__ ~tree()
    {
        delete left;
        delete right;
    }
    __device__ void add(int k)
    {
        tree *&at = k < key ? left : right;
        if (at) at->add(k);
        else at = new tree(k);
    }
    __device__ int walk(int *to) const
    {
        int n = left ? left->walk(to) : 0;
        to[n++] = key;
        return n + (right ? right->walk(to + n) : 0);
    }
};

__global__ void sorts(int *data, int n)
{
    tree *t = new tree(data[threadIdx.x * n]);
    for (int i = 1; i < n; i++) t->add(data[threadIdx.x * n + i]);
    t->walk(data + threadIdx.x * n);
    delete t;
}

__global__ void too_much(int *out)
{
    void *p = malloc((size_t)1 << 40);
    double *q = new double[16];
    for (int i = 0; i < 16; i++) q[i] = i;
    out[0] = p == nullptr;
    out[1] = (int)q[15];
    alignas(16) char room[sizeof(node)];
    node *n = new (room) node{5, nullptr};
    out[2] = n->value;
    delete[] q;
}

int main()
{
    room<int> sums(64);
    push<<<1, 64>>>(5);
    push<<<1, 64>>>(5);
    pop<<<1, 64>>>(sums);
    for (int t = 0; t < 64; t++) {
        int want = 0;
        for (int again = 0; again < 2; again++)
            for (int r = 4; r >= 0; r--) want = want * 3 + t * 100 + r;
        CHECK(sums.get()[t] == want);
    }
    const int n = 20;
    std::vector<int> data(32 * n);
    for (size_t i = 0; i < data.size(); i++) data[i] = draw(i) % 1000;
    room<int> keys(data);
    sorts<<<1, 32>>>(keys, n);
    for (int t = 0; t < 32; t++) {
        int *of = &data[t * n];
        for (int i = 1; i < n; i++)
            for (int k = i; k > 0 && of[k] < of[k - 1]; k--) std::swap(of[k], of[k - 1]);
    }
    CHECK(keys.get() == data);
    room<int> out(3);
    too_much<<<1, 1>>>(out);
    CHECK(out.get() == (std::vector<int>{1, 15, 5}));
    return verdict();
}
