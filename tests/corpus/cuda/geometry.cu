// A small ray tracer: structs with operators, recursion turned into loops, constant-memory scene, fast and precise maths.
// VARIANT: fast -use_fast_math
struct V {
    float x, y, z;
};
__device__ V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ V operator-(V a, V b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ V operator*(V a, float k) { return {a.x * k, a.y * k, a.z * k}; }
__device__ float dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ V unit(V a) { return a * rsqrtf(dot(a, a)); }

struct Sphere {
    V centre;
    float radius;
    V colour;
    float mirror;
};
__constant__ Sphere scene[5] = {{{0, 0, 5}, 1, {1, 0, 0}, 0.3f}, {{2, 0, 6}, 1.5f, {0, 1, 0}, 0.1f}, {{-2, 1, 4}, 0.5f, {0, 0, 1}, 0.8f}};
__constant__ int spheres = 3;

__device__ int hit(V from, V dir, float &nearest)
{
    int which = -1;
    for (int i = 0; i < spheres; i++) {
        V c = scene[i].centre - from;
        float b = dot(c, dir), d = b * b - dot(c, c) + scene[i].radius * scene[i].radius;
        if (d < 0)
            continue;
        float t = b - sqrtf(d);
        if (t > 1e-3f && t < nearest) {
            nearest = t;
            which = i;
        }
    }
    return which;
}

extern "C" __global__ void render(uchar4 *out, int w, int h, V light, int bounces)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    V from = {0, 0, 0}, dir = unit({(px - w / 2) / (float)h, (py - h / 2) / (float)h, 1}), colour = {0, 0, 0};
    float weight = 1;
    for (int i = 0; i <= bounces && weight > 0.01f; i++) {
        float t = 1e20f;
        int s = hit(from, dir, t);
        if (s < 0) {
            colour = colour + V{0.2f, 0.3f, 0.5f} * (weight * (0.5f + 0.5f * dir.y));
            break;
        }
        V p = from + dir * t, n = unit(p - scene[s].centre), l = unit(light - p);
        float shade = fmaxf(0.0f, dot(n, l)) + powf(fmaxf(0.0f, dot(unit(l - dir), n)), 32.0f), far = 1e20f;
        if (hit(p, l, far) >= 0)
            shade = 0.1f;
        colour = colour + scene[s].colour * (weight * shade * (1 - scene[s].mirror));
        weight *= scene[s].mirror;
        from = p;
        dir = dir - n * (2 * dot(dir, n));
    }
    out[py * w + px] = make_uchar4(255 * __saturatef(colour.x), 255 * __saturatef(colour.y), 255 * __saturatef(colour.z), 255);
}
