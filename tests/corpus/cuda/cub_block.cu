// CUB warp- and block-level collectives: reduce, scan, radix sort, histogram, exchange, load/store with several policies.
// KEEP: 75
#include <cub/cub.cuh>

extern "C" __global__ void collectives(const int *in, int *out)
{
    using Reduce = cub::BlockReduce<int, 128>;
    using Scan = cub::BlockScan<int, 128>;
    using WarpReduce = cub::WarpReduce<float>;
    using WarpScan = cub::WarpScan<int>;
    __shared__ union {
        Reduce::TempStorage reduce;
        Scan::TempStorage scan;
        WarpReduce::TempStorage warp[4];
        WarpScan::TempStorage warp_scan[4];
    } temp;
    int v = in[threadIdx.x];
    int sum = Reduce(temp.reduce).Sum(v);
    __syncthreads();
    int before, total;
    Scan(temp.scan).ExclusiveSum(v, before, total);
    __syncthreads();
    float w = WarpReduce(temp.warp[threadIdx.x / 32]).Sum((float)v);
    __syncthreads();
    int inclusive;
    WarpScan(temp.warp_scan[threadIdx.x / 32]).InclusiveSum(v, inclusive);
    out[threadIdx.x] = sum + before + total + (int)w + inclusive;
}

extern "C" __global__ void sort(const unsigned *in, unsigned *out)
{
    using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
    using Store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        Load::TempStorage load;
        Sort::TempStorage sort;
        Store::TempStorage store;
    } temp;
    unsigned item[4];
    Load(temp.load).Load(in + blockIdx.x * 512, item);
    __syncthreads();
    Sort(temp.sort).Sort(item);
    __syncthreads();
    Store(temp.store).Store(out + blockIdx.x * 512, item);
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins)
{
    using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ Histogram::TempStorage temp;
    __shared__ unsigned local[256];
    unsigned char item[4];
    cub::LoadDirectStriped<128>(threadIdx.x, in + blockIdx.x * 512, item);
    Histogram(temp).Histogram(item, local);
    __syncthreads();
    bins[threadIdx.x] += local[threadIdx.x] + local[threadIdx.x + 128];
}

extern "C" __global__ void merge(int *keys, short *values)
{
    using Merge = cub::WarpMergeSort<int, 2, 32, short>;
    __shared__ Merge::TempStorage temp;
    int k[2] = {keys[threadIdx.x * 2], keys[threadIdx.x * 2 + 1]};
    short v[2] = {values[threadIdx.x * 2], values[threadIdx.x * 2 + 1]};
    Merge(temp).Sort(k, v, [](int a, int b) { return a > b; });
    keys[threadIdx.x * 2] = k[0];
    values[threadIdx.x * 2 + 1] = v[1];
}
