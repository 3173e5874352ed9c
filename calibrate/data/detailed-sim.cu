// The programs whose cycles detailed-sim.csv has, one behind the other: a line `// ==== NAME.cu ====` begins each file.
// tools/measured.sh takes them apart.
// ==== alu_mixed.cu ====
// Mixed integer hash, shifts, logic, compare/select and fp32 arithmetic in one loop.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__host__ __device__ float mix(unsigned h, float f, int iters) {
  for (int k = 0; k < iters; k++) {
    h ^= h >> 13;
    h += h << 5;
    h = (h & 0x00ffffffu) + (unsigned)k;
    f = f * 0.75f + (float)(h & 255u);
    if (f > 512.0f) f -= 256.0f;
  }
  return f;
}

__global__ void alu_mixed(const unsigned *in, float *out, int iters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = mix(in[i], 1.0f, iters);
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, iters = argc > 3 ? atoi(argv[3]) : 24;
  int n = blocks * threads, bad = 0;
  unsigned *in = (unsigned *)malloc(n * 4), *din, seed = 4;
  float *out = (float *)malloc(n * 4), *dout;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  alu_mixed<<<blocks, threads>>>(din, dout, iters);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (fabsf(out[i] - mix(in[i], 1.0f, iters)) > 0.5f) bad++;
  bad = bad > n / 100;  // a last-bit difference may flip a compare
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad;
}
// ==== atomic_add_float.cu ====
// Float atomicAdd spread over 1, 32, 1024 or more addresses.
#include <stdio.h>
#include <stdlib.h>

__global__ void atomic_add(float *sum, int addresses, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; r++) atomicAdd(&sum[(i + r * 32) % addresses], 1.0f);
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 15, threads = argc > 2 ? atoi(argv[2]) : 128, addresses = argc > 3 ? atoi(argv[3]) : 32, rounds = argc > 4 ? atoi(argv[4]) : 4, bad = 0;
  float *want = (float *)calloc(addresses, 4), *got = (float *)malloc(addresses * 4), *dsum;
  cudaMalloc(&dsum, addresses * 4);
  cudaMemset(dsum, 0, addresses * 4);
  atomic_add<<<blocks, threads>>>(dsum, addresses, rounds);
  cudaMemcpy(got, dsum, addresses * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < blocks * threads; i++)
    for (int r = 0; r < rounds; r++) want[(i + r * 32) % addresses] += 1.0f;
  for (int a = 0; a < addresses; a++) if (want[a] != got[a]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== atomic_cas_push.cu ====
// Lock-free list push: every thread links its node into one of several list heads with atomicCAS.
#include <stdio.h>
#include <stdlib.h>

__global__ void cas_push(int *head, int *next, int heads, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int *h = &head[i * 7 % heads], old = *(volatile int *)h, seen;
  for (;;) {
    next[i] = old;
    seen = atomicCAS(h, old, i);
    if (seen == old) break;
    old = seen;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4096, heads = argc > 2 ? atoi(argv[2]) : 256, threads = argc > 3 ? atoi(argv[3]) : 128, bad = 0, count = 0;
  int *head = (int *)malloc(heads * 4), *next = (int *)malloc(n * 4), *seen = (int *)calloc(n, 4), *dhead, *dnext;
  cudaMalloc(&dhead, heads * 4); cudaMalloc(&dnext, n * 4);
  cudaMemset(dhead, 0xff, heads * 4);
  cas_push<<<(n + threads - 1) / threads, threads>>>(dhead, dnext, heads, n);
  cudaMemcpy(head, dhead, heads * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(next, dnext, n * 4, cudaMemcpyDeviceToHost);
  for (int h = 0; h < heads; h++)
    for (int p = head[h]; p >= 0 && p < n && count <= n; p = next[p]) { count++; if (seen[p]++ || p * 7 % heads != h) bad++; }
  bad = bad || count != n;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad;
}
// ==== barrier_heavy.cu ====
// Ring rotation in shared memory with two barriers in every step.
#include <stdio.h>
#include <stdlib.h>

__global__ void barriers(const int *in, int *out, int steps) {
  extern __shared__ int s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  for (int k = 0; k < steps; k++) {
    int v = s[t + 1 < blockDim.x ? t + 1 : 0];
    __syncthreads();
    s[t] = v + 1;
    __syncthreads();
  }
  out[i] = s[t];
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 15, threads = argc > 2 ? atoi(argv[2]) : 128, steps = argc > 3 ? atoi(argv[3]) : 24, n = blocks * threads, bad = 0;
  int *in = (int *)malloc(n * 4), *out = (int *)malloc(n * 4), *din, *dout;
  unsigned seed = 52;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 12; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  barriers<<<blocks, threads, threads * 4>>>(din, dout, steps);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int b = 0; b < blocks; b++)
    for (int t = 0; t < threads; t++) if (out[b * threads + t] != in[b * threads + (t + steps) % threads] + steps) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== bfs_levels.cu ====
// Level-synchronous breadth-first search, one thread per vertex and one launch per level (at most 10).
#include <stdio.h>
#include <stdlib.h>

__global__ void bfs_level(const int *row, const int *col, int *dist, int level, int *again, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || dist[v] != level) return;
  for (int k = row[v]; k < row[v + 1]; k++)
    if (dist[col[k]] < 0) { dist[col[k]] = level + 1; *again = 1; }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4096, degree = argc > 2 ? atoi(argv[2]) : 8, threads = argc > 3 ? atoi(argv[3]) : 256, bad = 0, level = 0, again = 1;
  int *row = (int *)malloc((n + 1) * 4), *col = (int *)malloc(n * degree * 8), *dist = (int *)malloc(n * 4), *got = (int *)malloc(n * 4), *queue = (int *)malloc(n * 4);
  int *drow, *dcol, *ddist, *dagain, first = 0, last = 1;
  unsigned seed = 46;
  row[0] = 0;
  for (int v = 0; v < n; v++) {
    seed = seed * 1664525u + 1013904223u;
    row[v + 1] = row[v] + 1 + (seed >> 8) % (2 * degree - 1);
    for (int k = row[v]; k < row[v + 1]; k++) { seed = seed * 1664525u + 1013904223u; col[k] = (seed >> 8) % n; }
    dist[v] = -1;
  }
  dist[0] = 0;
  cudaMalloc(&drow, (n + 1) * 4); cudaMalloc(&dcol, row[n] * 4); cudaMalloc(&ddist, n * 4); cudaMalloc(&dagain, 4);
  cudaMemcpy(drow, row, (n + 1) * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dcol, col, row[n] * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(ddist, dist, n * 4, cudaMemcpyHostToDevice);
  for (; again && level < 10; level++) {
    cudaMemset(dagain, 0, 4);
    bfs_level<<<(n + threads - 1) / threads, threads>>>(drow, dcol, ddist, level, dagain, n);
    cudaMemcpy(&again, dagain, 4, cudaMemcpyDeviceToHost);
  }
  cudaMemcpy(got, ddist, n * 4, cudaMemcpyDeviceToHost);
  queue[0] = 0;
  for (; first < last; first++) {
    int v = queue[first];
    if (dist[v] == level) continue;
    for (int k = row[v]; k < row[v + 1]; k++)
      if (dist[col[k]] < 0) { dist[col[k]] = dist[v] + 1; queue[last++] = col[k]; }
  }
  for (int v = 0; v < n; v++) if (dist[v] != got[v]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== block_size_sweep.cu ====
// The same element-wise work launched with block sizes from 32 to 1024 threads.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void block_size(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    out[i] = ((x * 0.5f + 1.0f) * x + 2.0f) * x + 3.0f;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 30000, threads = argc > 2 ? atoi(argv[2]) : 256;
  int bytes = n * sizeof(float), bad = 0;
  float *in = (float *)malloc(bytes), *out = (float *)malloc(bytes), *din, *dout;
  unsigned seed = 10;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  block_size<<<(n + threads - 1) / threads, threads>>>(din, dout, n);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    float x = in[i];
    if (fabsf(((x * 0.5f + 1.0f) * x + 2.0f) * x + 3.0f - out[i]) > 1e-4f) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== branch_divergence.cu ====
// The lanes of a warp take 1 to 32 different paths, executed one after the other.
#include <stdio.h>
#include <stdlib.h>

__host__ __device__ unsigned path(unsigned x, int p, int iters) {
  for (int k = 0; k < iters; k++) x = x * (2u * p + 3u) + (x >> 7);
  return x;
}

__global__ void diverge(const unsigned *in, unsigned *out, int paths, int iters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = in[i];
  for (int p = 0; p < paths; p++)
    if (i % paths == p) x = path(x, p, iters);
  out[i] = x;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 15, threads = argc > 2 ? atoi(argv[2]) : 128, paths = argc > 3 ? atoi(argv[3]) : 8, iters = argc > 4 ? atoi(argv[4]) : 32;
  int n = blocks * threads, bad = 0;
  unsigned *in = (unsigned *)malloc(n * 4), *out = (unsigned *)malloc(n * 4), *din, *dout, seed = 50;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  diverge<<<blocks, threads>>>(din, dout, paths, iters);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (out[i] != path(in[i], i % paths, iters)) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== broadcast_load.cu ====
// All threads read the same table entry in every step (one address per warp load).
#include <stdio.h>
#include <stdlib.h>

__global__ void broadcast(const int *table, int *out, int entries) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = i;
  for (int k = 0; k < entries; k++) s = s * 3 + table[k];
  out[i] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, entries = argc > 3 ? atoi(argv[3]) : 64;
  int n = blocks * threads, bad = 0, *table = (int *)malloc(entries * 4), *out = (int *)malloc(n * 4), *dtable, *dout;
  unsigned seed = 19;
  for (int i = 0; i < entries; i++) { seed = seed * 1664525u + 1013904223u; table[i] = seed >> 12; }
  cudaMalloc(&dtable, entries * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(dtable, table, entries * 4, cudaMemcpyHostToDevice);
  broadcast<<<blocks, threads>>>(dtable, dout, entries);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    unsigned s = i;
    for (int k = 0; k < entries; k++) s = s * 3u + (unsigned)table[k];
    if ((int)s != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== cold_read.cu ====
// Sums memory that was only touched by cudaMemset: every line comes from DRAM.
#include <stdio.h>
#include <stdlib.h>

__global__ void cold_read(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  for (int k = i; k < n; k += gridDim.x * blockDim.x) s += in[k];
  out[i] = s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 60000, blocks = argc > 2 ? atoi(argv[2]) : 30, threads = argc > 3 ? atoi(argv[3]) : 256;
  int total = blocks * threads, bad = 0, *out = (int *)malloc(total * 4), *din, *dout;
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, total * 4);
  cudaMemset(din, 1, n * 4);
  cold_read<<<blocks, threads>>>(din, dout, n);
  cudaMemcpy(out, dout, total * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < total; i++) {
    int s = 0;
    for (int k = i; k < n; k += total) s += 0x01010101;
    if (s != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== constant_memory.cu ====
// Constant-memory coefficients, read uniformly (spread 0) or with a different address per lane (spread 1).
#include <stdio.h>
#include <stdlib.h>

__constant__ int coef[256];

__global__ void constant_read(int *out, int iters, int spread) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = i;
  for (int k = 0; k < iters; k++) s += coef[(k + i * spread) & 255] * (k + 1);
  out[i] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, iters = argc > 3 ? atoi(argv[3]) : 40, spread = argc > 4 ? atoi(argv[4]) : 0;
  int n = blocks * threads, bad = 0, host[256], *out = (int *)malloc(n * 4), *dout;
  unsigned seed = 22;
  for (int i = 0; i < 256; i++) { seed = seed * 1664525u + 1013904223u; host[i] = seed >> 20; }
  cudaMalloc(&dout, n * 4);
  cudaMemcpyToSymbol(coef, host, sizeof(host));
  constant_read<<<blocks, threads>>>(dout, iters, spread);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    int s = i;
    for (int k = 0; k < iters; k++) s += host[(k + i * spread) & 255] * (k + 1);
    if (s != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== fma_chain.cu ====
// Dependent fp32 multiply-add chain: one accumulator per thread, no instruction-level parallelism.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void fma_chain(const float *in, float *out, int iters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i], x = a;
  for (int k = 0; k < iters; k++) x = x * 0.5f + a;
  out[i] = x;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, iters = argc > 3 ? atoi(argv[3]) : 64;
  int n = blocks * threads, bytes = n * sizeof(float), bad = 0;
  float *in = (float *)malloc(bytes), *out = (float *)malloc(bytes), *din, *dout;
  unsigned seed = 1;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  fma_chain<<<blocks, threads>>>(din, dout, iters);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    float x = in[i];
    for (int k = 0; k < iters; k++) x = x * 0.5f + in[i];
    if (fabsf(x - out[i]) > 1e-4f) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== fma_independent.cu ====
// Eight independent fp32 multiply-add chains per thread: high instruction-level parallelism.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void fma_independent(const float *in, float *out, int iters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i], x[8];
  for (int j = 0; j < 8; j++) x[j] = a + j;
  for (int k = 0; k < iters; k++)
    for (int j = 0; j < 8; j++) x[j] = x[j] * 0.5f + a;
  float s = 0;
  for (int j = 0; j < 8; j++) s += x[j];
  out[i] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, iters = argc > 3 ? atoi(argv[3]) : 16;
  int n = blocks * threads, bytes = n * sizeof(float), bad = 0;
  float *in = (float *)malloc(bytes), *out = (float *)malloc(bytes), *din, *dout;
  unsigned seed = 2;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  fma_independent<<<blocks, threads>>>(din, dout, iters);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < 8; j++) {
      float x = in[i] + j;
      for (int k = 0; k < iters; k++) x = x * 0.5f + in[i];
      s += x;
    }
    if (fabsf(s - out[i]) > 1e-3f) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== fp64_horner.cu ====
// Double-precision polynomial evaluation by Horner's rule.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void fp64_horner(const double *x, double *y, int degree) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double a = x[i], p = 1.0;
  for (int k = 0; k < degree; k++) p = p * a + 0.25;
  y[i] = p;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, degree = argc > 3 ? atoi(argv[3]) : 48;
  int n = blocks * threads, bytes = n * sizeof(double), bad = 0;
  double *x = (double *)malloc(bytes), *y = (double *)malloc(bytes), *dx, *dy;
  unsigned seed = 6;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; x[i] = (seed >> 8) / 16777216.0; }
  cudaMalloc(&dx, bytes); cudaMalloc(&dy, bytes);
  cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice);
  fp64_horner<<<blocks, threads>>>(dx, dy, degree);
  cudaMemcpy(y, dy, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    double p = 1.0;
    for (int k = 0; k < degree; k++) p = p * x[i] + 0.25;
    if (fabs(p - y[i]) > 1e-9 * fabs(p)) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== gather_random.cu ====
// Random gather: coalesced index load, then one random table read per element.
#include <stdio.h>
#include <stdlib.h>

__global__ void gather(const int *idx, const int *table, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[idx[i]];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000, size = argc > 2 ? atoi(argv[2]) : 65536, threads = argc > 3 ? atoi(argv[3]) : 256, bad = 0;
  int *idx = (int *)malloc(n * 4), *table = (int *)malloc(size * 4), *out = (int *)malloc(n * 4), *didx, *dtable, *dout;
  unsigned seed = 15;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; idx[i] = (seed >> 8) % size; }
  for (int i = 0; i < size; i++) { seed = seed * 1664525u + 1013904223u; table[i] = seed; }
  cudaMalloc(&didx, n * 4); cudaMalloc(&dtable, size * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(didx, idx, n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dtable, table, size * 4, cudaMemcpyHostToDevice);
  gather<<<(n + threads - 1) / threads, threads>>>(didx, dtable, dout, n);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (out[i] != table[idx[i]]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== histogram_global.cu ====
// Histogram with one global atomic per element.
#include <stdio.h>
#include <stdlib.h>

__global__ void histogram_global(const int *in, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], 1);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 16000, m = argc > 2 ? atoi(argv[2]) : 256, threads = argc > 3 ? atoi(argv[3]) : 256, bad = 0;
  int *in = (int *)malloc(n * 4), *want = (int *)calloc(m, 4), *got = (int *)malloc(m * 4), *din, *dbins;
  unsigned seed = 40;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) % m; want[in[i]]++; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dbins, m * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  cudaMemset(dbins, 0, m * 4);
  histogram_global<<<(n + threads - 1) / threads, threads>>>(din, dbins, n);
  cudaMemcpy(got, dbins, m * 4, cudaMemcpyDeviceToHost);
  for (int b = 0; b < m; b++) if (want[b] != got[b]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== histogram_shared.cu ====
// Histogram with shared-memory atomics per block, merged by global atomics.
#include <stdio.h>
#include <stdlib.h>

__global__ void histogram_shared(const int *in, int *bins, int n, int m) {
  extern __shared__ int s[];
  for (int b = threadIdx.x; b < m; b += blockDim.x) s[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < m; b += blockDim.x) atomicAdd(&bins[b], s[b]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000, m = argc > 2 ? atoi(argv[2]) : 256, blocks = argc > 3 ? atoi(argv[3]) : 15, threads = argc > 4 ? atoi(argv[4]) : 256, bad = 0;
  int *in = (int *)malloc(n * 4), *want = (int *)calloc(m, 4), *got = (int *)malloc(m * 4), *din, *dbins;
  unsigned seed = 41;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) % m; want[in[i]]++; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dbins, m * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  cudaMemset(dbins, 0, m * 4);
  histogram_shared<<<blocks, threads, m * 4>>>(din, dbins, n, m);
  cudaMemcpy(got, dbins, m * 4, cudaMemcpyDeviceToHost);
  for (int b = 0; b < m; b++) if (want[b] != got[b]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== int_division.cu ====
// Integer division and remainder by a divisor that is only known at run time.
#include <stdio.h>
#include <stdlib.h>

__host__ __device__ unsigned divide(unsigned x, unsigned d, int iters) {
  unsigned s = 0;
  for (int k = 0; k < iters; k++) { s += x / d + x % (d + k); x = x * 3u + s; }
  return s;
}

__global__ void int_division(const unsigned *x, const unsigned *d, unsigned *out, int iters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = divide(x[i], d[i], iters);
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, iters = argc > 3 ? atoi(argv[3]) : 24;
  int n = blocks * threads, bytes = n * sizeof(unsigned), bad = 0;
  unsigned *x = (unsigned *)malloc(bytes), *d = (unsigned *)malloc(bytes), *out = (unsigned *)malloc(bytes), *dx, *dd, *dout, seed = 7;
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u; x[i] = seed;
    seed = seed * 1664525u + 1013904223u; d[i] = (seed >> 20) + 1;
  }
  cudaMalloc(&dx, bytes); cudaMalloc(&dd, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dd, d, bytes, cudaMemcpyHostToDevice);
  int_division<<<blocks, threads>>>(dx, dd, dout, iters);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (out[i] != divide(x[i], d[i], iters)) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== l1_reuse.cu ====
// Every block reads its own small window again and again, so the data stays in the L1 cache.
#include <stdio.h>
#include <stdlib.h>

__global__ void l1_reuse(const int *in, int *out, int window, int passes) {
  const int *w = in + blockIdx.x * window;
  int t = threadIdx.x, s = 0;
  for (int p = 0; p < passes; p++)
    for (int k = 0; k < window; k += blockDim.x) s += w[(t + k + p * 32) % window] ^ p;
  out[blockIdx.x * blockDim.x + t] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 15, threads = argc > 2 ? atoi(argv[2]) : 128, window = argc > 3 ? atoi(argv[3]) : 1024, passes = argc > 4 ? atoi(argv[4]) : 6;
  int n = blocks * window, total = blocks * threads, bad = 0, *in = (int *)malloc(n * 4), *out = (int *)malloc(total * 4), *din, *dout;
  unsigned seed = 20;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 12; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, total * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  l1_reuse<<<blocks, threads>>>(din, dout, window, passes);
  cudaMemcpy(out, dout, total * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < total; i++) {
    int s = 0, *w = in + i / threads * window;
    for (int p = 0; p < passes; p++)
      for (int k = 0; k < window; k += threads) s += w[(i % threads + k + p * 32) % window] ^ p;
    if (s != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== l2_reuse.cu ====
// All blocks sweep one shared buffer larger than the L1, each from another starting point, so hits come from the L2.
#include <stdio.h>
#include <stdlib.h>

__global__ void l2_reuse(const int *in, int *out, int n, int reads) {
  int t = threadIdx.x, start = blockIdx.x * (n / gridDim.x), s = 0;
  for (int k = 0; k < reads; k++) s += in[(start + k * 2048 + t * 8) % n];
  out[blockIdx.x * blockDim.x + t] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 30, threads = argc > 2 ? atoi(argv[2]) : 256, n = argc > 3 ? atoi(argv[3]) : 65536, reads = argc > 4 ? atoi(argv[4]) : 8;
  int total = blocks * threads, bad = 0, *in = (int *)malloc(n * 4), *out = (int *)malloc(total * 4), *din, *dout;
  unsigned seed = 21;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 12; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, total * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  l2_reuse<<<blocks, threads>>>(din, dout, n, reads);
  cudaMemcpy(out, dout, total * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < total; i++) {
    int s = 0, start = i / threads * (n / blocks);
    for (int k = 0; k < reads; k++) s += in[(start + k * 2048 + i % threads * 8) % n];
    if (s != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== local_array.cu ====
// A per-thread array with run-time indices, which the compiler has to keep in local memory.
#include <stdio.h>
#include <stdlib.h>

__host__ __device__ int shuffle_sum(int x, int rounds) {
  int a[16], s = 0;
  for (int j = 0; j < 16; j++) a[j] = x + j;
  for (int r = 0; r < rounds; r++) {
    int p = (x + r * 5) & 15, q = ((x >> 4) + r) & 15;
    int t = a[p]; a[p] = a[q] + 1; a[q] = t;
    s += a[r & 15];
  }
  return s;
}

__global__ void local_array(const int *in, int *out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = shuffle_sum(in[i], rounds);
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 15, threads = argc > 2 ? atoi(argv[2]) : 128, rounds = argc > 3 ? atoi(argv[3]) : 8;
  int n = blocks * threads, bad = 0, *in = (int *)malloc(n * 4), *out = (int *)malloc(n * 4), *din, *dout;
  unsigned seed = 26;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 16; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  local_array<<<blocks, threads>>>(din, dout, rounds);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (out[i] != shuffle_sum(in[i], rounds)) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== loop_trip_divergence.cu ====
// Every thread runs its own random number of loop trips.
#include <stdio.h>
#include <stdlib.h>

__host__ __device__ unsigned trips(unsigned x, int count) {
  for (int k = 0; k < count; k++) x = (x ^ x >> 9) * 2654435761u;
  return x;
}

__global__ void loop_trips(const int *count, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = trips(i, count[i]);
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 15, threads = argc > 2 ? atoi(argv[2]) : 128, most = argc > 3 ? atoi(argv[3]) : 64, n = blocks * threads, bad = 0;
  int *count = (int *)malloc(n * 4), *dcount;
  unsigned *out = (unsigned *)malloc(n * 4), *dout, seed = 51;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; count[i] = (seed >> 8) % (most + 1); }
  cudaMalloc(&dcount, n * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(dcount, count, n * 4, cudaMemcpyHostToDevice);
  loop_trips<<<blocks, threads>>>(dcount, dout);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (out[i] != trips(i, count[i])) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== lu_panel.cu ====
// LU factorisation without pivoting of one small matrix per block in shared memory.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void lu_panel(float *a, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  float *m = a + blockIdx.x * n * n;
  for (int k = t; k < n * n; k += blockDim.x) s[k] = m[k];
  __syncthreads();
  for (int k = 0; k < n - 1; k++) {
    for (int i = k + 1 + t; i < n; i += blockDim.x) s[i * n + k] /= s[k * n + k];
    __syncthreads();
    for (int e = t; e < (n - k - 1) * (n - k - 1); e += blockDim.x) {
      int i = k + 1 + e / (n - k - 1), j = k + 1 + e % (n - k - 1);
      s[i * n + j] -= s[i * n + k] * s[k * n + j];
    }
    __syncthreads();
  }
  for (int k = t; k < n * n; k += blockDim.x) m[k] = s[k];
}

int main(int argc, char **argv) {
  int batch = argc > 1 ? atoi(argv[1]) : 8, n = argc > 2 ? atoi(argv[2]) : 16, threads = argc > 3 ? atoi(argv[3]) : 64, total = batch * n * n, bad = 0;
  float *a = (float *)malloc(total * 4), *lu = (float *)malloc(total * 4), *d;
  unsigned seed = 55;
  for (int i = 0; i < total; i++) {
    seed = seed * 1664525u + 1013904223u; a[i] = (seed >> 8) / 16777216.0f;
    if (i % (n * n) / n == i % n) a[i] += n;
  }
  cudaMalloc(&d, total * 4);
  cudaMemcpy(d, a, total * 4, cudaMemcpyHostToDevice);
  lu_panel<<<batch, threads, n * n * 4>>>(d, n);
  cudaMemcpy(lu, d, total * 4, cudaMemcpyDeviceToHost);
  for (int b = 0; b < batch; b++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        float s = 0, *m = lu + b * n * n;
        for (int k = 0; k <= i && k <= j; k++) s += (k == i ? 1.0f : m[i * n + k]) * m[k * n + j];
        if (fabsf(s - a[(b * n + i) * n + j]) > 1e-3f) bad++;
      }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== mandelbrot.cu ====
// Mandelbrot escape counts: neighbouring threads leave the loop at different times.
#include <stdio.h>
#include <stdlib.h>

__host__ __device__ int escape(float cx, float cy, int limit) {
  float x = 0, y = 0;
  int k = 0;
  while (k < limit && x * x + y * y < 4.0f) { float t = x * x - y * y + cx; y = 2.0f * x * y + cy; x = t; k++; }
  return k;
}

__global__ void mandelbrot(int *out, int w, int h, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = escape(-2.0f + 3.0f * x / w, -1.0f + 2.0f * y / h, limit);
}

int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 64, h = argc > 2 ? atoi(argv[2]) : 48, limit = argc > 3 ? atoi(argv[3]) : 48, bad = 0;
  int *out = (int *)malloc(w * h * 4), *dout;
  cudaMalloc(&dout, w * h * 4);
  mandelbrot<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(dout, w, h, limit);
  cudaMemcpy(out, dout, w * h * 4, cudaMemcpyDeviceToHost);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) if (out[y * w + x] != escape(-2.0f + 3.0f * x / w, -1.0f + 2.0f * y / h, limit)) bad++;
  bad = bad > w * h / 50;  // a last-bit difference may change a count
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad;
}
// ==== many_tiny_blocks.cu ====
// Thousands of one-warp blocks with almost no work: block scheduling dominates.
#include <stdio.h>
#include <stdlib.h>

__global__ void tiny(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * 3 + 1;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 1000, threads = argc > 2 ? atoi(argv[2]) : 32, n = blocks * threads - 5, bad = 0;
  int *out = (int *)malloc(n * 4), *dout;
  cudaMalloc(&dout, n * 4);
  tiny<<<blocks, threads>>>(dout, n);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (out[i] != i * 3 + 1) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== matmul_tiled.cu ====
// Matrix product with square shared-memory tiles of 8, 16 or 32.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

template <int T>
__global__ void matmul_tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float sa[T][T], sb[T][T];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
  float s = 0;
  for (int k = 0; k < n; k += T) {
    sa[ty][tx] = a[y * n + k + tx];
    sb[ty][tx] = b[(k + ty) * n + x];
    __syncthreads();
    for (int j = 0; j < T; j++) s += sa[ty][j] * sb[j][tx];
    __syncthreads();
  }
  c[y * n + x] = s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 64, tile = argc > 2 ? atoi(argv[2]) : 16, bytes = n * n * 4, bad = 0;
  float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes), *da, *db, *dc;
  unsigned seed = 34;
  for (int i = 0; i < n * n; i++) {
    seed = seed * 1664525u + 1013904223u; a[i] = (seed >> 8) / 16777216.0f;
    seed = seed * 1664525u + 1013904223u; b[i] = (seed >> 8) / 16777216.0f;
  }
  cudaMalloc(&da, bytes); cudaMalloc(&db, bytes); cudaMalloc(&dc, bytes);
  cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice);
  dim3 grid(n / tile, n / tile), block(tile, tile);
  if (tile == 8) matmul_tiled<8><<<grid, block>>>(da, db, dc, n);
  else if (tile == 16) matmul_tiled<16><<<grid, block>>>(da, db, dc, n);
  else matmul_tiled<32><<<grid, block>>>(da, db, dc, n);
  cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float s = 0;
      for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
      if (fabsf(s - c[y * n + x]) > 1e-3f * s) bad++;
    }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== occupancy_registers.cu ====
// Register-limited occupancy: N values live per thread (8, 32 or 96), loaded first and combined later.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

template <int N>
__global__ void live_values(const float *in, float *out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[N];
#pragma unroll
  for (int j = 0; j < N; j++) v[j] = in[(i + j * 32) % n];
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int j = 0; j < N; j++) v[j] = v[j] * 0.5f + v[(j + N / 2) % N];
  }
  float s = 0;
#pragma unroll
  for (int j = 0; j < N; j++) s += v[j];
  out[i] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, live = argc > 3 ? atoi(argv[3]) : 8, rounds = argc > 4 ? atoi(argv[4]) : 8;
  int n = blocks * threads, bytes = n * sizeof(float), bad = 0;
  float *in = (float *)malloc(bytes), *out = (float *)malloc(bytes), *din, *dout, v[96];
  unsigned seed = 8;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  if (live == 8) live_values<8><<<blocks, threads>>>(din, dout, n, rounds);
  else if (live == 32) live_values<32><<<blocks, threads>>>(din, dout, n, rounds);
  else { live = 96; live_values<96><<<blocks, threads>>>(din, dout, n, rounds); }
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < live; j++) v[j] = in[(i + j * 32) % n];
    for (int r = 0; r < rounds; r++)
      for (int j = 0; j < live; j++) v[j] = v[j] * 0.5f + v[(j + live / 2) % live];
    for (int j = 0; j < live; j++) s += v[j];
    if (fabsf(s - out[i]) > 1e-3f * fabsf(s)) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== occupancy_shared.cu ====
// Shared-memory-limited occupancy: the block reserves a chosen number of shared bytes around a load-exchange loop.
#include <stdio.h>
#include <stdlib.h>

__global__ void occupancy_shared(const int *in, int *out, int n, int rounds) {
  extern __shared__ int buf[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, s = 0;
  for (int r = 0; r < rounds; r++) {
    buf[t] = in[(i + r * 4096) % n];
    __syncthreads();
    s += buf[blockDim.x - 1 - t];
    __syncthreads();
  }
  out[i] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 120, threads = argc > 2 ? atoi(argv[2]) : 128, shared = argc > 3 ? atoi(argv[3]) : 1024, rounds = argc > 4 ? atoi(argv[4]) : 4;
  int n = blocks * threads, bytes = n * sizeof(int), bad = 0;
  int *in = (int *)malloc(bytes), *out = (int *)malloc(bytes), *din, *dout;
  unsigned seed = 9;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 16; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  occupancy_shared<<<blocks, threads, shared>>>(din, dout, n, rounds);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    int t = i % threads, m = i - t + threads - 1 - t, s = 0;
    for (int r = 0; r < rounds; r++) s += in[(m + r * 4096) % n];
    if (s != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== pointer_chase.cu ====
// Pointer chase: every thread follows a random cycle, so each load waits for the one before.
#include <stdio.h>
#include <stdlib.h>

__global__ void chase(const int *next, int *out, int steps, int spread) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, p = i * spread;
  for (int k = 0; k < steps; k++) p = next[p];
  out[i] = p;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 15, threads = argc > 2 ? atoi(argv[2]) : 32, nodes = argc > 3 ? atoi(argv[3]) : 16384, steps = argc > 4 ? atoi(argv[4]) : 24;
  int total = blocks * threads, spread = nodes / total, bad = 0;
  int *order = (int *)malloc(nodes * 4), *next = (int *)malloc(nodes * 4), *out = (int *)malloc(total * 4), *dnext, *dout;
  unsigned seed = 17;
  for (int i = 0; i < nodes; i++) order[i] = i;
  for (int i = nodes - 1; i > 0; i--) {
    seed = seed * 1664525u + 1013904223u;
    int j = (seed >> 8) % (i + 1), t = order[i]; order[i] = order[j]; order[j] = t;
  }
  for (int i = 0; i < nodes; i++) next[order[i]] = order[(i + 1) % nodes];
  cudaMalloc(&dnext, nodes * 4); cudaMalloc(&dout, total * 4);
  cudaMemcpy(dnext, next, nodes * 4, cudaMemcpyHostToDevice);
  chase<<<blocks, threads>>>(dnext, dout, steps, spread);
  cudaMemcpy(out, dout, total * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < total; i++) {
    int p = i * spread;
    for (int k = 0; k < steps; k++) p = next[p];
    if (p != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== radix_sort_step.cu ====
// One stable radix-sort step on a 4-bit digit: count, scan, scatter with warp ballots.
#include <stdio.h>
#include <stdlib.h>

__global__ void count_digits(const unsigned *in, int *counts, int shift) {
  __shared__ int c[16];
  int t = threadIdx.x;
  if (t < 16) c[t] = 0;
  __syncthreads();
  atomicAdd(&c[in[blockIdx.x * blockDim.x + t] >> shift & 15], 1);
  __syncthreads();
  if (t < 16) counts[t * gridDim.x + blockIdx.x] = c[t];
}

__global__ void scan_counts(int *counts, int n) {
  __shared__ int s[1024];
  int t = threadIdx.x, per = (n + blockDim.x - 1) / blockDim.x, sum = 0;
  for (int k = t * per; k < n && k < (t + 1) * per; k++) sum += counts[k];
  s[t] = sum;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  int run = s[t] - sum;
  for (int k = t * per; k < n && k < (t + 1) * per; k++) { int v = counts[k]; counts[k] = run; run += v; }
}

__global__ void scatter_digits(const unsigned *in, unsigned *out, const int *offsets, int shift) {
  __shared__ int warp_count[8][16];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned key = in[blockIdx.x * blockDim.x + t], digit = key >> shift & 15, same = 0xffffffffu;
  for (int b = 0; b < 4; b++) {
    unsigned vote = __ballot_sync(0xffffffffu, digit >> b & 1);
    same &= digit >> b & 1 ? vote : ~vote;
  }
  if (lane < 16) warp_count[warp][lane] = 0;
  __syncthreads();
  int rank = __popc(same & ((1u << lane) - 1));
  if (rank == 0) warp_count[warp][digit] = __popc(same);
  __syncthreads();
  for (int w = 0; w < warp; w++) rank += warp_count[w][digit];
  out[offsets[digit * gridDim.x + blockIdx.x] + rank] = key;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 256, shift = 8, n = blocks * threads, bad = 0, pos = 0;
  unsigned *in = (unsigned *)malloc(n * 4), *out = (unsigned *)malloc(n * 4), *din, *dout, seed = 43;
  int *dcounts;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, n * 4); cudaMalloc(&dcounts, blocks * 16 * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  count_digits<<<blocks, threads>>>(din, dcounts, shift);
  scan_counts<<<1, 256>>>(dcounts, blocks * 16);
  scatter_digits<<<blocks, threads>>>(din, dout, dcounts, shift);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (unsigned digit = 0; digit < 16; digit++)
    for (int i = 0; i < n; i++) if ((in[i] >> shift & 15) == digit && out[pos++] != in[i]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== reduce_interleaved.cu ====
// Shared-memory sum reduction with interleaved addressing: divergent warps and bank conflicts.
#include <stdio.h>
#include <stdlib.h>

__global__ void reduce_interleaved(const int *in, int *out, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4096, threads = argc > 2 ? atoi(argv[2]) : 128, blocks = (n + threads - 1) / threads;
  int *in = (int *)malloc(n * 4), *out = (int *)malloc(blocks * 4), *din, *dout, want = 0, got = 0;
  unsigned seed = 30;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 20; want += in[i]; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, blocks * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  reduce_interleaved<<<blocks, threads, threads * 4>>>(din, dout, n);
  cudaMemcpy(out, dout, blocks * 4, cudaMemcpyDeviceToHost);
  for (int b = 0; b < blocks; b++) got += out[b];
  printf("%s\n", want != got ? "FAIL" : "PASS");
  return want != got;
}
// ==== reduce_shuffle.cu ====
// Warp-shuffle sum reduction: one result per warp.
#include <stdio.h>
#include <stdlib.h>

__global__ void reduce_shuffle(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) out[i / 32] = v;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000, threads = argc > 2 ? atoi(argv[2]) : 256;
  int blocks = (n + threads - 1) / threads, warps = blocks * threads / 32;
  int *in = (int *)malloc(n * 4), *out = (int *)malloc(warps * 4), *din, *dout, want = 0, got = 0;
  unsigned seed = 32;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 20; want += in[i]; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, warps * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  reduce_shuffle<<<blocks, threads>>>(din, dout, n);
  cudaMemcpy(out, dout, warps * 4, cudaMemcpyDeviceToHost);
  for (int w = 0; w < warps; w++) got += out[w];
  printf("%s\n", want != got ? "FAIL" : "PASS");
  return want != got;
}
// ==== reduce_tree.cu ====
// Shared-memory tree reduction with sequential addressing, a grid-stride load phase and a second launch for the block sums.
#include <stdio.h>
#include <stdlib.h>

__global__ void reduce_tree(const int *in, int *out, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x, sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 40000, blocks = argc > 2 ? atoi(argv[2]) : 30, threads = argc > 3 ? atoi(argv[3]) : 256;
  int *in = (int *)malloc(n * 4), *din, *dpart, *dout, want = 0, got = 0;
  unsigned seed = 31;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 20; want += in[i]; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dpart, blocks * 4); cudaMalloc(&dout, 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  reduce_tree<<<blocks, threads, threads * 4>>>(din, dpart, n);
  reduce_tree<<<1, threads, threads * 4>>>(dpart, dout, blocks);
  cudaMemcpy(&got, dout, 4, cudaMemcpyDeviceToHost);
  printf("%s\n", want != got ? "FAIL" : "PASS");
  return want != got;
}
// ==== saxpy.cu ====
// y = a * x + y, launched twice so that the second launch sees the caches the first one left.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000, threads = argc > 2 ? atoi(argv[2]) : 256;
  int bytes = n * sizeof(float), bad = 0;
  float *x = (float *)malloc(bytes), *y = (float *)malloc(bytes), *r = (float *)malloc(bytes), *dx, *dy;
  unsigned seed = 12;
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u; x[i] = (seed >> 8) / 16777216.0f;
    seed = seed * 1664525u + 1013904223u; y[i] = (seed >> 8) / 16777216.0f;
  }
  cudaMalloc(&dx, bytes); cudaMalloc(&dy, bytes);
  cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y, bytes, cudaMemcpyHostToDevice);
  for (int k = 0; k < 2; k++) saxpy<<<(n + threads - 1) / threads, threads>>>(n, 2.0f, dx, dy);
  cudaMemcpy(r, dy, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (fabsf(4.0f * x[i] + y[i] - r[i]) > 1e-4f) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== scatter_random.cu ====
// Random scatter: every element is written to its place in a random permutation.
#include <stdio.h>
#include <stdlib.h>

__global__ void scatter(const int *perm, const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[perm[i]] = in[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000, threads = argc > 2 ? atoi(argv[2]) : 256, bad = 0;
  int *perm = (int *)malloc(n * 4), *in = (int *)malloc(n * 4), *out = (int *)malloc(n * 4), *dperm, *din, *dout;
  unsigned seed = 16;
  for (int i = 0; i < n; i++) { perm[i] = i; in[i] = i * 7 + 3; }
  for (int i = n - 1; i > 0; i--) {
    seed = seed * 1664525u + 1013904223u;
    int j = (seed >> 8) % (i + 1), t = perm[i]; perm[i] = perm[j]; perm[j] = t;
  }
  cudaMalloc(&dperm, n * 4); cudaMalloc(&din, n * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(dperm, perm, n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  scatter<<<(n + threads - 1) / threads, threads>>>(dperm, din, dout, n);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (out[perm[i]] != in[i]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== sequence_alignment.cu ====
// Global sequence alignment scores: one pair per block, anti-diagonal wavefront in shared memory.
#include <stdio.h>
#include <stdlib.h>

__global__ void align(const char *a, const char *b, int *score, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x, w = n + 1;
  a += blockIdx.x * n; b += blockIdx.x * n;
  for (int k = t; k <= n; k += blockDim.x) s[k] = s[k * w] = -2 * k;
  __syncthreads();
  for (int d = 2; d <= 2 * n; d++) {
    int i = t + 1, j = d - i;
    if (i <= n && j >= 1 && j <= n) {
      int m = s[(i - 1) * w + j - 1] + (a[i - 1] == b[j - 1] ? 3 : -1);
      s[i * w + j] = max(m, max(s[(i - 1) * w + j], s[i * w + j - 1]) - 2);
    }
    __syncthreads();
  }
  if (t == 0) score[blockIdx.x] = s[n * w + n];
}

int main(int argc, char **argv) {
  int pairs = argc > 1 ? atoi(argv[1]) : 15, n = argc > 2 ? atoi(argv[2]) : 32, bad = 0;  // n threads per block
  char *a = (char *)malloc(pairs * n), *b = (char *)malloc(pairs * n), *da, *db;
  int *score = (int *)malloc(pairs * 4), *s = (int *)malloc((n + 1) * (n + 1) * 4), *dscore, w = n + 1;
  unsigned seed = 56;
  for (int i = 0; i < pairs * n; i++) {
    seed = seed * 1664525u + 1013904223u; a[i] = seed >> 30;
    seed = seed * 1664525u + 1013904223u; b[i] = seed >> 30;
  }
  cudaMalloc(&da, pairs * n); cudaMalloc(&db, pairs * n); cudaMalloc(&dscore, pairs * 4);
  cudaMemcpy(da, a, pairs * n, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, pairs * n, cudaMemcpyHostToDevice);
  align<<<pairs, n, w * w * 4>>>(da, db, dscore, n);
  cudaMemcpy(score, dscore, pairs * 4, cudaMemcpyDeviceToHost);
  for (int p = 0; p < pairs; p++) {
    for (int k = 0; k <= n; k++) s[k] = s[k * w] = -2 * k;
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++) {
        int m = s[(i - 1) * w + j - 1] + (a[p * n + i - 1] == b[p * n + j - 1] ? 3 : -1), g = s[(i - 1) * w + j];
        if (s[i * w + j - 1] > g) g = s[i * w + j - 1];
        s[i * w + j] = m > g - 2 ? m : g - 2;
      }
    if (score[p] != s[n * w + n]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== sfu_fast.cu ====
// Special-function throughput: fast sine, exponential and reciprocal square root in a loop.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void sfu_fast(const float *in, float *out, int iters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i], s = 0;
  for (int k = 0; k < iters; k++) {
    s += __sinf(a) + __expf(-a) + rsqrtf(a + 1.0f);
    a += 0.01f;
  }
  out[i] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 16, threads = argc > 2 ? atoi(argv[2]) : 128, iters = argc > 3 ? atoi(argv[3]) : 16;
  int n = blocks * threads, bytes = n * sizeof(float), bad = 0;
  float *in = (float *)malloc(bytes), *out = (float *)malloc(bytes), *din, *dout;
  unsigned seed = 5;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  sfu_fast<<<blocks, threads>>>(din, dout, iters);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    float a = in[i], s = 0;
    for (int k = 0; k < iters; k++) { s += sinf(a) + expf(-a) + 1.0f / sqrtf(a + 1.0f); a += 0.01f; }
    if (fabsf(s - out[i]) > 1e-3f * fabsf(s)) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== shared_bank_conflict.cu ====
// Shared-memory reads with a word stride of 1 to 32: a conflict-free to 32-way conflicting access.
#include <stdio.h>
#include <stdlib.h>

__global__ void bank_conflict(const int *in, int *out, int stride, int iters) {
  __shared__ int buf[1024];
  int t = threadIdx.x, s = 0;
  for (int k = t; k < 1024; k += blockDim.x) buf[k] = in[k];
  __syncthreads();
  for (int k = 0; k < iters; k++) s += buf[(t * stride + k) & 1023];
  out[blockIdx.x * blockDim.x + t] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 15, threads = argc > 2 ? atoi(argv[2]) : 128, stride = argc > 3 ? atoi(argv[3]) : 1, iters = argc > 4 ? atoi(argv[4]) : 40;
  int n = blocks * threads, bad = 0, in[1024], *out = (int *)malloc(n * 4), *din, *dout;
  unsigned seed = 25;
  for (int i = 0; i < 1024; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 12; }
  cudaMalloc(&din, sizeof(in)); cudaMalloc(&dout, n * 4);
  cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
  bank_conflict<<<blocks, threads>>>(din, dout, stride, iters);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int k = 0; k < iters; k++) s += in[(i % threads * stride + k) & 1023];
    if (s != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== small_grid.cu ====
// One or a few blocks only: most of the device stays idle.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void small_grid(const float *in, float *out, int per) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
  float s = 0;
  for (int k = 0; k < per; k++) s = s * 0.5f + in[i + k * total];
  out[i] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 1, threads = argc > 2 ? atoi(argv[2]) : 256, per = argc > 3 ? atoi(argv[3]) : 128, total = blocks * threads, n = total * per, bad = 0;
  float *in = (float *)malloc(n * 4), *out = (float *)malloc(total * 4), *din, *dout;
  unsigned seed = 53;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, total * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  small_grid<<<blocks, threads>>>(din, dout, per);
  cudaMemcpy(out, dout, total * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < total; i++) {
    float s = 0;
    for (int k = 0; k < per; k++) s = s * 0.5f + in[i + k * total];
    if (fabsf(s - out[i]) > 1e-4f) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== spmv_csr_vector.cu ====
// CSR sparse matrix-vector product, one warp per row with a shuffle reduction.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void spmv_vector(const int *row, const int *col, const float *val, const float *x, float *y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float s = 0;
  for (int k = row[r] + lane; k < row[r + 1]; k += 32) s += val[k] * x[col[k]];
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (lane == 0) y[r] = s;
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 2000, average = argc > 2 ? atoi(argv[2]) : 16, threads = argc > 3 ? atoi(argv[3]) : 128, bad = 0;
  int *row = (int *)malloc((rows + 1) * 4), *col = (int *)malloc(rows * average * 8), *drow, *dcol;
  float *val = (float *)malloc(rows * average * 8), *x = (float *)malloc(rows * 4), *y = (float *)malloc(rows * 4), *dval, *dx, *dy;
  unsigned seed = 45;
  row[0] = 0;
  for (int r = 0; r < rows; r++) {
    seed = seed * 1664525u + 1013904223u;
    row[r + 1] = row[r] + (seed >> 8) % (2 * average);
    x[r] = (seed >> 8) / 16777216.0f;
    for (int k = row[r]; k < row[r + 1]; k++) {
      seed = seed * 1664525u + 1013904223u;
      col[k] = (seed >> 8) % rows; val[k] = (seed >> 8) / 16777216.0f;
    }
  }
  int nnz = row[rows];
  cudaMalloc(&drow, (rows + 1) * 4); cudaMalloc(&dcol, nnz * 4); cudaMalloc(&dval, nnz * 4); cudaMalloc(&dx, rows * 4); cudaMalloc(&dy, rows * 4);
  cudaMemcpy(drow, row, (rows + 1) * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dcol, col, nnz * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dval, val, nnz * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x, rows * 4, cudaMemcpyHostToDevice);
  spmv_vector<<<(rows * 32 + threads - 1) / threads, threads>>>(drow, dcol, dval, dx, dy, rows);
  cudaMemcpy(y, dy, rows * 4, cudaMemcpyDeviceToHost);
  for (int r = 0; r < rows; r++) {
    float s = 0;
    for (int k = row[r]; k < row[r + 1]; k++) s += val[k] * x[col[k]];
    if (fabsf(s - y[r]) > 1e-4f * (s + 1)) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== stencil2d_global.cu ====
// Two steps of a 2D five-point stencil, reading neighbours through global memory.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void stencil2d(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int i = y * w + x;
  if (x == 0 || y == 0 || x == w - 1 || y == h - 1) out[i] = in[i];
  else out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - w] + in[i + w]);
}

int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 128, h = argc > 2 ? atoi(argv[2]) : 64, bytes = w * h * 4, bad = 0;
  float *in = (float *)malloc(bytes), *mid = (float *)malloc(bytes), *ref = (float *)malloc(bytes), *out = (float *)malloc(bytes), *da, *db;
  unsigned seed = 36;
  for (int i = 0; i < w * h; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&da, bytes); cudaMalloc(&db, bytes);
  cudaMemcpy(da, in, bytes, cudaMemcpyHostToDevice);
  dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
  stencil2d<<<grid, block>>>(da, db, w, h);
  stencil2d<<<grid, block>>>(db, da, w, h);
  cudaMemcpy(out, da, bytes, cudaMemcpyDeviceToHost);
  for (int step = 0; step < 2; step++) {
    float *a = step ? mid : in, *b = step ? ref : mid;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        int i = y * w + x;
        b[i] = x == 0 || y == 0 || x == w - 1 || y == h - 1 ? a[i] : 0.5f * a[i] + 0.125f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w]);
      }
  }
  for (int i = 0; i < w * h; i++) if (fabsf(ref[i] - out[i]) > 1e-5f) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== stencil2d_shared.cu ====
// 2D five-point stencil through an 18x18 shared tile with halo.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void stencil2d_shared(const float *in, float *out, int w, int h) {
  __shared__ float s[18][18];
  int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  for (int k = ty * 16 + tx; k < 18 * 18; k += 256) {
    int x = x0 + k % 18 - 1, y = y0 + k / 18 - 1;
    s[k / 18][k % 18] = x >= 0 && y >= 0 && x < w && y < h ? in[y * w + x] : 0.0f;
  }
  __syncthreads();
  int x = x0 + tx, y = y0 + ty;
  if (x < w && y < h)
    out[y * w + x] = 0.5f * s[ty + 1][tx + 1] + 0.125f * (s[ty + 1][tx] + s[ty + 1][tx + 2] + s[ty][tx + 1] + s[ty + 2][tx + 1]);
}

int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 96, h = argc > 2 ? atoi(argv[2]) : 64, bytes = w * h * 4, bad = 0;
  float *in = (float *)malloc(bytes), *out = (float *)malloc(bytes), *din, *dout;
  unsigned seed = 37;
  for (int i = 0; i < w * h; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  stencil2d_shared<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(din, dout, w, h);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int i = y * w + x;
      float s = 0.5f * in[i] + 0.125f * ((x > 0 ? in[i - 1] : 0) + (x < w - 1 ? in[i + 1] : 0) + (y > 0 ? in[i - w] : 0) + (y < h - 1 ? in[i + w] : 0));
      if (fabsf(s - out[i]) > 1e-5f) bad++;
    }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== stream_compaction.cu ====
// Stream compaction: keep elements under a threshold, one global atomic per warp (ballot and shuffle).
#include <stdio.h>
#include <stdlib.h>

__global__ void compact(const int *in, int *out, int *count, int limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, base = 0;
  int keep = i < n && in[i] < limit;
  unsigned vote = __ballot_sync(0xffffffffu, keep);
  if (lane == 0) base = atomicAdd(count, __popc(vote));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (keep) out[base + __popc(vote & ((1u << lane) - 1))] = in[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 16000, percent = argc > 2 ? atoi(argv[2]) : 50, threads = argc > 3 ? atoi(argv[3]) : 256, limit = percent * 10;
  int *in = (int *)malloc(n * 4), *out = (int *)malloc(n * 4), *din, *dout, *dcount, want = 0, count = 0, bad = 0;
  unsigned seed = 44, a = 0, b = 0;
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) % 1000;
    if (in[i] < limit) { want++; a += in[i] * in[i]; }
  }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, n * 4); cudaMalloc(&dcount, 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  cudaMemset(dcount, 0, 4);
  compact<<<(n + threads - 1) / threads, threads>>>(din, dout, dcount, limit, n);
  cudaMemcpy(&count, dcount, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < count && i < n; i++) { b += out[i] * out[i]; if (out[i] >= limit) bad++; }
  bad = bad || count != want || a != b;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad;
}
// ==== stream_copy.cu ====
// Streaming copy, one word per thread.
#include <stdio.h>
#include <stdlib.h>

__global__ void stream_copy(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 40000, threads = argc > 2 ? atoi(argv[2]) : 256;
  int bytes = n * sizeof(int), bad = 0;
  int *in = (int *)malloc(bytes), *out = (int *)malloc(bytes), *din, *dout;
  unsigned seed = 11;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  stream_copy<<<(n + threads - 1) / threads, threads>>>(din, dout, n);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (in[i] != out[i]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== strided_read.cu ====
// Reads with a stride of 1 to 32 words between neighbouring threads (memory filled by cudaMemset or by a copy).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__global__ void strided_read(const int *in, int *out, int stride, int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x, s = 0;
  for (int r = 0; r < rounds; r++) s += in[((i + r * total) * stride) % n];
  out[i] = s;
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 30, threads = argc > 2 ? atoi(argv[2]) : 256, stride = argc > 3 ? atoi(argv[3]) : 2, rounds = argc > 4 ? atoi(argv[4]) : 4, copy = argc > 5 ? atoi(argv[5]) : 0;
  int total = blocks * threads, n = total * rounds * stride, bad = 0;
  int *in = (int *)malloc(n * 4), *out = (int *)malloc(total * 4), *din, *dout;
  memset(in, 1, n * 4);
  unsigned seed = 14;
  if (copy) for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed >> 8; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, total * 4);
  if (copy) cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  else cudaMemset(din, 1, n * 4);
  strided_read<<<blocks, threads>>>(din, dout, stride, rounds, n);
  cudaMemcpy(out, dout, total * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < total; i++) {
    int s = 0;
    for (int r = 0; r < rounds; r++) s += in[((i + r * total) * stride) % n];
    if (s != out[i]) bad++;
  }
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== transpose_padded.cu ====
// Matrix transpose through a padded 32x33 shared tile: no bank conflicts.
#include <stdio.h>
#include <stdlib.h>

__global__ void transpose_padded(const int *in, int *out, int n) {
  __shared__ int tile[32][33];
  int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(by + ty + j) * n + bx + tx];
  __syncthreads();
  for (int j = 0; j < 32; j += 8) out[(bx + ty + j) * n + by + tx] = tile[tx][ty + j];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 192, bytes = n * n * sizeof(int), bad = 0;  // n: a multiple of 32
  int *in = (int *)malloc(bytes), *out = (int *)malloc(bytes), *din, *dout;
  unsigned seed = 18;
  for (int i = 0; i < n * n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  transpose_padded<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(din, dout, n);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) if (out[x * n + y] != in[y * n + x]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== transpose_tiled.cu ====
// Matrix transpose through a 32x32 shared tile whose column reads conflict in the banks.
#include <stdio.h>
#include <stdlib.h>

__global__ void transpose_tiled(const int *in, int *out, int n) {
  __shared__ int tile[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(by + ty + j) * n + bx + tx];
  __syncthreads();
  for (int j = 0; j < 32; j += 8) out[(bx + ty + j) * n + by + tx] = tile[tx][ty + j];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 192, bytes = n * n * sizeof(int), bad = 0;  // n: a multiple of 32
  int *in = (int *)malloc(bytes), *out = (int *)malloc(bytes), *din, *dout;
  unsigned seed = 18;
  for (int i = 0; i < n * n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed; }
  cudaMalloc(&din, bytes); cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice);
  transpose_tiled<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(din, dout, n);
  cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) if (out[x * n + y] != in[y * n + x]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== unaligned_copy.cu ====
// Copy whose source starts some words after a 128-byte boundary.
#include <stdio.h>
#include <stdlib.h>

__global__ void unaligned_copy(const int *in, int *out, int offset, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + offset];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 30000, offset = argc > 2 ? atoi(argv[2]) : 1, threads = argc > 3 ? atoi(argv[3]) : 128, bad = 0;
  int m = n + offset, *in = (int *)malloc(m * 4), *out = (int *)malloc(n * 4), *din, *dout;
  unsigned seed = 24;
  for (int i = 0; i < m; i++) { seed = seed * 1664525u + 1013904223u; in[i] = seed; }
  cudaMalloc(&din, m * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(din, in, m * 4, cudaMemcpyHostToDevice);
  unaligned_copy<<<(n + threads - 1) / threads, threads>>>(din, dout, offset, n);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (out[i] != in[i + offset]) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
// ==== vector_load_float4.cu ====
// Scaling with 16-byte vector loads and stores.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void scale4(const float4 *in, float4 *out, float s, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    float4 v = in[i];
    v.x *= s; v.y *= s; v.z *= s; v.w *= s;
    out[i] = v;
  }
}

int main(int argc, char **argv) {
  int n4 = argc > 1 ? atoi(argv[1]) : 15000, threads = argc > 2 ? atoi(argv[2]) : 256, n = n4 * 4, bad = 0;
  float *in = (float *)malloc(n * 4), *out = (float *)malloc(n * 4);
  float4 *din, *dout;
  unsigned seed = 23;
  for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; in[i] = (seed >> 8) / 16777216.0f; }
  cudaMalloc(&din, n * 4); cudaMalloc(&dout, n * 4);
  cudaMemcpy(din, in, n * 4, cudaMemcpyHostToDevice);
  scale4<<<(n4 + threads - 1) / threads, threads>>>(din, dout, 1.5f, n4);
  cudaMemcpy(out, dout, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) if (fabsf(in[i] * 1.5f - out[i]) > 1e-5f) bad++;
  printf("%s\n", bad ? "FAIL" : "PASS");
  return bad != 0;
}
