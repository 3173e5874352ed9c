// Sorting networks and merges: bitonic in shared memory, odd-even by shuffles, local-array insertion sort, binary search.
extern "C" __global__ void bitonic(unsigned *data)
{
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * 1024 + t];
    for (unsigned k = 2; k <= 1024; k <<= 1)
        for (unsigned j = k >> 1; j; j >>= 1) {
            __syncthreads();
            unsigned o = t ^ j;
            if (o > t && (s[t] > s[o]) == ((t & k) == 0)) {
                unsigned x = s[t];
                s[t] = s[o];
                s[o] = x;
            }
        }
    __syncthreads();
    data[blockIdx.x * 1024 + t] = s[t];
}

extern "C" __global__ void odd_even(float *data)
{
    int lane = threadIdx.x & 31;
    float v = data[blockIdx.x * blockDim.x + threadIdx.x];
    for (int phase = 0; phase < 32; phase++) {
        int partner = (lane & 1) == (phase & 1) ? lane + 1 : lane - 1;
        float o = __shfl_sync(0xffffffffu, v, partner);
        if (partner >= 0 && partner < 32)
            v = partner > lane ? fminf(v, o) : fmaxf(v, o);
    }
    data[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

extern "C" __global__ void insertion(double *data, int per)
{
    double a[24];
    double *d = data + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * per;
    int n = min(per, 24);
    for (int i = 0; i < n; i++) {
        double x = d[i];
        int j = i;
        for (; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
    for (int i = 0; i < n; i++)
        d[i] = a[i];
}

extern "C" __global__ void merge_path(const int *a, int na, const int *b, int nb, int *out)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= na + nb)
        return;
    int lo = max(0, k - nb), hi = min(k, na);
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] <= b[k - mid - 1])
            lo = mid + 1;
        else
            hi = mid;
    }
    int j = k - lo;
    out[k] = j >= nb || (lo < na && a[lo] <= b[j]) ? a[lo] : b[j];
}
