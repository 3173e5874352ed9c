// DPX intrinsics: three-way min/max, relu, add-then-max, packed 16x2 forms, and min/max that report the winner.
// KEEP: 80 90
extern "C" __global__ void dpx(const int *a, const int *b, const int *c, int *o, bool *w)
{
    int t = threadIdx.x, x = a[t], y = b[t], z = c[t];
    unsigned ux = x, uy = y, uz = z;
    o += t * 64;
    w += t * 16;
    o[0] = __vimax3_s32(x, y, z);
    o[1] = __vimin3_s32(x, y, z);
    o[2] = __vimax3_u32(ux, uy, uz);
    o[3] = __vimin3_u32(ux, uy, uz);
    o[4] = __vimax3_s32_relu(x, y, z);
    o[5] = __vimin3_s32_relu(x, y, z);
    o[6] = __vimax_s32_relu(x, y);
    o[7] = __vimin_s32_relu(x, y);
    o[8] = __viaddmax_s32(x, y, z);
    o[9] = __viaddmin_s32(x, y, z);
    o[10] = __viaddmax_u32(ux, uy, uz);
    o[11] = __viaddmin_u32(ux, uy, uz);
    o[12] = __viaddmax_s32_relu(x, y, z);
    o[13] = __viaddmin_s32_relu(x, y, z);
    o[14] = __vimax3_s16x2(ux, uy, uz);
    o[15] = __vimin3_s16x2(ux, uy, uz);
    o[16] = __vimax3_u16x2(ux, uy, uz);
    o[17] = __vimin3_u16x2(ux, uy, uz);
    o[18] = __vimax3_s16x2_relu(ux, uy, uz);
    o[19] = __vimin3_s16x2_relu(ux, uy, uz);
    o[20] = __vimax_s16x2_relu(ux, uy);
    o[21] = __vimin_s16x2_relu(ux, uy);
    o[22] = __viaddmax_s16x2(ux, uy, uz);
    o[23] = __viaddmin_u16x2(ux, uy, uz);
    o[24] = __viaddmax_s16x2_relu(ux, uy, uz);
    o[25] = __vibmax_s32(x, y, &w[0]);
    o[26] = __vibmin_s32(x, y, &w[1]);
    o[27] = __vibmax_u32(ux, uy, &w[2]);
    o[28] = __vibmin_u32(ux, uy, &w[3]);
    o[29] = __vibmax_s16x2(ux, uy, &w[4], &w[5]);
    o[30] = __vibmin_u16x2(ux, uy, &w[6], &w[7]);
}

extern "C" __global__ void smith_waterman(const signed char *a, const signed char *b, int *h, int n, int m)
{
    int row = threadIdx.x, best = 0, left = 0;
    for (int j = 0; j < m; j++) {
        int up = __shfl_up_sync(~0u, left, 1), diag = __shfl_up_sync(~0u, best, 1);
        int s = a[row] == b[j] ? 2 : -1;
        left = __vimax3_s32_relu(diag + s, up - 1, left - 1);
        best = max(best, left);
        h[row * m + j] = left;
    }
}
