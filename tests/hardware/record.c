/* Records what a GPU gives for the instructions of the instruction table: tests/hardware/NAME.bits, which tests/cuda/hardware.c
 * compares with Heddle.
 *
 *     record [LIBRARY] > tests/hardware/h100.bits        // LIBRARY: libcuda.so.1 */
#define _GNU_SOURCE
#include "tests/hardware/bits.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hardware_driver driver;
static void *library;
static void *call(const char *name)
{
    void *f = dlsym(library, name);
    if (!f) {
        fprintf(stderr, "record: the library has no %s\n", name);
        exit(2);
    }
    return f;
}
#define CALL(to, name)                                                                             \
    do {                                                                                           \
        void *f = call(name);                                                                      \
        memcpy(&(to), &f, sizeof f);                                                               \
    } while (0)

static void done(void *self, const struct hardware_result *r)
{
    (void)self;
    if (r->error) {
        fprintf(stderr, "record: %s: error %d\n", r->opcode, r->error);
        return;
    }
    printf("%s %s %u %08x %08x\n", r->form, r->opcode, r->variant, r->hash[0], r->hash[1]);
}

struct picker {
    struct hardware_bits *bits;
    const char *form;
    unsigned in_form;
};
/* All of a form with few opcodes, of others some. */
static void see(void *self, const struct hardware_kernel *k)
{
    struct picker *p = self;
    (void)p;
    if (hardware_is_recorded(k)) hardware_bits_add(p->bits, k);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        fprintf(stderr, "usage: record [LIBRARY]\n");
        return 2;
    }
    library = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "record: %s\n", dlerror());
        return 2;
    }
    CUresult (*init)(unsigned), (*get)(CUdevice *, int), (*retain)(CUcontext *, CUdevice),
        (*set)(CUcontext), (*name)(char *, int, CUdevice), (*version)(int *);
    CALL(init, "cuInit");
    CALL(get, "cuDeviceGet");
    CALL(retain, "cuDevicePrimaryCtxRetain");
    CALL(set, "cuCtxSetCurrent");
    CALL(name, "cuDeviceGetName");
    CALL(version, "cuDriverGetVersion");
    CALL(driver.module_load, "cuModuleLoadData");
    CALL(driver.module_unload, "cuModuleUnload");
    CALL(driver.function, "cuModuleGetFunction");
    CALL(driver.alloc, "cuMemAlloc_v2");
    CALL(driver.free, "cuMemFree_v2");
    CALL(driver.to_device, "cuMemcpyHtoD_v2");
    CALL(driver.to_host, "cuMemcpyDtoH_v2");
    CALL(driver.fill, "cuMemsetD8_v2");
    CALL(driver.launch, "cuLaunchKernel");
    CALL(driver.synchronise, "cuCtxSynchronize");
    CUdevice device;
    CUcontext context;
    char device_name[128] = "";
    int driver_version = 0;
    if (init(0) || get(&device, 0) || retain(&context, device) || set(context)) {
        fprintf(stderr, "record: no device\n");
        return 2;
    }
    name(device_name, sizeof device_name, device);
    version(&driver_version);
    printf("# %s, driver API %d.%d\n", device_name, driver_version / 1000,
           driver_version % 1000 / 10);
    struct picker p = {.bits = hardware_bits_new(&driver, done, NULL)};
    hardware_kernels(see, &p);
    hardware_bits_end(p.bits);
    return 0;
}
