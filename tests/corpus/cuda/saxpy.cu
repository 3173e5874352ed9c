// Grid-stride saxpy in four element types: ld/st.global, fma, cvta.to.global, simple loops.
template <typename T>
__device__ void axpy(int n, T a, const T *x, T *y)
{
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) { axpy(n, a, x, y); }
extern "C" __global__ void daxpy(int n, double a, const double *x, double *y) { axpy(n, a, x, y); }
extern "C" __global__ void iaxpy(int n, int a, const int *x, int *y) { axpy(n, a, x, y); }
extern "C" __global__ void laxpy(int n, long long a, const long long *x, long long *y) { axpy(n, a, x, y); }

extern "C" __global__ void saxpy_restrict(int n, float a, const float4 *__restrict__ x, float4 *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 u = x[i], v = y[i];
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    y[i] = v;
}
