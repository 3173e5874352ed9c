// Graphs, captures, conditionals, libraries' kernels, stream attributes: checks itself.
// NEEDS: 13
#include <cstdio>
#include <cstring>
#include <vector>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cudaError_t r = (call);                                                                                        \
        if (r != cudaSuccess) {                                                                                        \
            printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(r));                                              \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)
#define CHECK(that)                                                                                                    \
    do {                                                                                                               \
        if (!(that)) {                                                                                                 \
            printf("%d: not so: %s\n", __LINE__, #that);                                                               \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

const int n = 1 << 12;
__constant__ int weight;

__global__ void axpy(int *y, const int *x, int a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * y[i] + x[i] + weight;
}

__global__ void step(int *count, int below, cudaGraphConditionalHandle more)
{
    cudaGraphSetConditional(more, ++*count < below);
}

static int captured(cudaStream_t s, cudaStream_t t, int *x, int *y, int *z, int *host, cudaGraph_t *graph)
{
    cudaEvent_t fork, join;
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(y, 0, n * sizeof *y, s));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    axpy<<<n / 128, 128, 0, s>>>(y, x, 3, n);
    axpy<<<n / 128, 128, 0, t>>>(z, x, 2, n);
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join, 0));
    axpy<<<n / 128, 128, 0, s>>>(y, z, 5, n);
    OK(cudaMemcpyAsync(host, y, n * sizeof *y, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamEndCapture(s, graph));
    return 0;
}

static int captures()
{
    int *x, *y, *z, *host, w = 7;
    cudaStream_t s, t;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    std::vector<int> in(n);
    for (int i = 0; i < n; i++) in[i] = i;
    OK(cudaMemcpyToSymbol(weight, &w, sizeof w));
    OK(cudaMalloc(&x, n * sizeof *x));
    OK(cudaMalloc(&y, n * sizeof *y));
    OK(cudaMalloc(&z, n * sizeof *z));
    OK(cudaMallocHost(&host, n * sizeof *host));
    OK(cudaMemcpy(x, in.data(), n * sizeof *x, cudaMemcpyHostToDevice));
    OK(cudaMemset(z, 0, n * sizeof *z));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaDeviceSynchronize());
    if (captured(s, t, x, y, z, host, &graph)) return 1;
    size_t nodes = 0, edges = 0;
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 5);
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(edges == 5);
    OK(cudaGraphInstantiate(&exec, graph));
    int z_now = 0;
    for (int round = 0; round < 3; round++) {
        OK(cudaGraphLaunch(exec, s));
        OK(cudaStreamSynchronize(s));
        for (int i = 0, k = 0; i < n; i += 97, k++) {
            int zi = 0;
            for (int r = 0; r <= round; r++) zi = 2 * zi + i + 7;
            CHECK(host[i] == 5 * (i + 7) + zi + 7);
        }
        z_now++;
    }
    // the weight of another kernel node's parameters
    std::vector<cudaGraphNode_t> all(nodes);
    OK(cudaGraphGetNodes(graph, all.data(), &nodes));
    for (cudaGraphNode_t node : all) {
        cudaGraphNodeType type;
        OK(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel) continue;
        cudaKernelNodeParams p;
        OK(cudaGraphKernelNodeGetParams(node, &p));
        CHECK(p.func == (void *)axpy && p.blockDim.x == 128);
        if (*(int *)p.kernelParams[2] != 5) continue;
        int a = 0;
        void *args[] = {p.kernelParams[0], p.kernelParams[1], &a, p.kernelParams[3]};
        p.kernelParams = args;
        OK(cudaGraphExecKernelNodeSetParams(exec, node, &p));
    }
    OK(cudaMemset(z, 0, n * sizeof *z));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CHECK(host[10] == 10 + 7 + 7);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
    int *wrong;
    CHECK(cudaMalloc(&wrong, 4) == cudaErrorStreamCaptureUnsupported);
    cudaGraph_t none;
    CHECK(cudaStreamEndCapture(s, &none) == cudaErrorStreamCaptureInvalidated && !none);
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
    CHECK(z_now == 3);
    return 0;
}

static int conditionals()
{
    int *count, host = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle more;
    cudaGraphNode_t node, inner;
    OK(cudaMalloc(&count, sizeof *count));
    OK(cudaMemset(count, 0, sizeof *count));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.handle = more;
    p.conditional.type = cudaGraphCondTypeWhile;
    p.conditional.size = 1;
    OK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &p));
    int below = 11;
    void *args[] = {&count, &below, &more};
    cudaKernelNodeParams k = {(void *)step, 1, 1, 0, args, NULL};
    OK(cudaGraphAddKernelNode(&inner, p.conditional.phGraph_out[0], NULL, 0, &k));
    OK(cudaGraphAddMemcpyNode1D(&inner, graph, &node, 1, &host, count, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&exec, graph));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(host == 11);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    return 0;
}

static void add_one(void *at)
{
    ++*(int *)at;
}

static int the_rest()
{
    cudaStream_t s, t;
    int called = 0, value = 0;
    cudaLaunchAttributeValue v, w;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    memset(&v, 0, sizeof v);
    v.syncPolicy = cudaSyncPolicySpin;
    OK(cudaStreamSetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v));
    OK(cudaStreamCopyAttributes(t, s));
    OK(cudaStreamGetAttribute(t, cudaLaunchAttributeSynchronizationPolicy, &w));
    CHECK(w.syncPolicy == cudaSyncPolicySpin);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t a, b;
    OK(cudaGraphCreate(&graph, 0));
    cudaHostNodeParams host = {add_one, &called};
    OK(cudaGraphAddHostNode(&a, graph, NULL, 0, &host));
    w = v;
    int seven = 7;
    OK(cudaGraphAddMemcpyNodeToSymbol(&b, graph, &a, 1, weight, &seven, sizeof seven, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphInstantiate(&exec, graph));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, t));
    OK(cudaDeviceSynchronize());
    CHECK(called == 2);
    OK(cudaMemcpyFromSymbol(&value, weight, sizeof value));
    CHECK(value == 7);
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, graph, &info));
    void *entry = NULL;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuGraphLaunch", &entry, 12000, cudaEnableDefault, &found));
    CHECK(entry && found == cudaDriverEntryPointSuccess);
    return 0;
}

int main()
{
    if (captures() || conditionals() || the_rest()) return 1;
    printf("graphs: fine\n");
    return 0;
}
