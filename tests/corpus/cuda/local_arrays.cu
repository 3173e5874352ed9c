// Local memory: dynamically indexed arrays of several types, a depot per function, queues, union punning, byte copies.
struct Item {
    int key;
    short weight;
    char tag;
};

extern "C" __global__ void eight_queens(int n, int *count)
{
    int column[16], row = 0, found = 0;
    column[0] = threadIdx.x % n;
    int first = column[0];
    while (row >= 0) {
        bool ok = column[row] < n;
        for (int i = 0; ok && i < row; i++)
            if (column[i] == column[row] || abs(column[i] - column[row]) == row - i)
                ok = false;
        if (ok && row == n - 1) {
            found++;
            ok = false;
        }
        if (ok)
            column[++row] = 0;
        else {
            while (row >= 0 && ++column[row] >= n && row > 0)
                row--;
            if (row == 0 && column[0] != first)
                break;
        }
    }
    atomicAdd(count, found);
}

__device__ __noinline__ void fill(Item *p, int n, int seed)
{
    for (int i = 0; i < n; i++) {
        p[i].key = seed * i;
        p[i].weight = (short)(seed - i);
        p[i].tag = (char)i;
    }
}

extern "C" __global__ void records(int *o, int i, int j)
{
    Item items[10], other[10];
    fill(items, 10, i);
    fill(other, 10, j);
    items[i % 10] = other[j % 10];
    char bytes[33];
    for (int k = 0; k < 33; k++)
        bytes[k] = (char)(k * i);
    double wide[4] = {1, 2, 3, (double)i};
    short half[6] = {};
    half[i % 6] = (short)j;
    o[0] = items[j % 10].key + items[j % 10].weight + items[3].tag + bytes[j % 33] + (int)wide[j & 3] + half[j % 6];
    union {
        long long l;
        unsigned char c[8];
    } u;
    u.l = i * 1234567890123ll;
    o[1] = u.c[j & 7];
}
