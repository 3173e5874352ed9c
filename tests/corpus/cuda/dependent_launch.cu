// Programmatic dependent launch: griddepcontrol.wait and launch_dependents, also through the runtime's device functions.
// ARCH: 90 100
extern "C" __global__ void producer(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i * 0.5f;
    cudaTriggerProgrammaticLaunchCompletion();
}

extern "C" __global__ void consumer(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float bias = i * 2.0f;
    cudaGridDependencySynchronize();
    if (i < n)
        out[i] = in[i] + bias;
}

extern "C" __global__ void both(float *data)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    data[threadIdx.x] += 1;
    asm volatile("griddepcontrol.launch_dependents;");
}
