/* emu/device/image.h: linked modules with addresses for their variables and functions.
 *
 *     struct image *im = image_new(mem, modules, count, &why);          // NULL: puts(why), free(why)
 *     uint64_t a = image_address(im, module, opnd->sym);                // what `mov.u64 r, name` gives
 *     struct image_shared *s = image_shared_new(im, arena, &reach, &why);
 *     struct image_params p;
 *     image_params_layout(arena, f->proto.params, f->proto.param_count, &p, &why);
 *     image_free(im);                                                   // its variables' memory, too
 *
 * Names are resolved as in ptx/link.h: functions that take a module and a symbol of it resolve .extern, .weak and
 * .common symbols. The modules must outlive the image and must have no errors. Bodies need not have been parsed:
 * image_place adds the variables of a body later. Otherwise an image does not change after image_new, so several
 * threads may read it. */
#ifndef HEDDLE_EMU_DEVICE_IMAGE_H
#define HEDDLE_EMU_DEVICE_IMAGE_H

#include "ptx/link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem;

enum { IMAGE_HANDLE = 64 }; /* bytes of a texture, sampler or surface reference: an opaque block */

struct image_var {             /* a variable in global memory: .global, .const, .tex */
    const struct ptx_var *var; /* the definition */
    const char *name;          /* NUL-terminated */
    uint64_t address, size;    /* size of an opaque variable: IMAGE_HANDLE times its elements */
    uint32_t align, module;    /* index of the module that defines it */
};

struct image {
    struct arena *arena;
    struct mem *mem;
    struct ptx_program *program;
    struct ptx_place *funcs; /* by function number; definitions, or declarations if there is none */
    struct image_var *vars;  /* in order of modules and declarations */
    size_t var_count, var_cap;
    uint32_t func_count;
    struct image_map *func_map, *var_map;
    uint32_t
        shared_limit; /* bytes of shared memory of a CTA; MEM_MAX_SHARED unless the owner sets it */
};

/* Links the modules, places and initialises their variables. NULL: failed; `*why` is the reason, malloc'd text of one
 * or more lines, and the modules' diags may have new messages. Nothing stays allocated. */
struct image *image_new(struct mem *mem, struct ptx_module *const *modules, size_t count,
                        char **why);
void image_free(struct image *im); /* NULL is allowed */

/* ---- variables and functions ------------------------------------------------------------------- */

/* The device address of a variable in .global, .const or .tex, or of a function (MEM_CODE + 16 * its
 * number). 0: the symbol has none, or no module defines it. */
uint64_t image_address(const struct image *im, size_t module, const struct ptx_sym *sym);

/* Assigns address and initial value to a variable that a function declares, unless it has them already. false: failed;
 * `*why` as above. Must not be called while a launch runs. */
bool image_place(struct image *im, size_t module, const struct ptx_var *v, char **why);

/* The variable of a module's symbol; NULL: the variable is not in global memory, or no module defines it. */
const struct image_var *image_var(const struct image *im, size_t module, const struct ptx_sym *sym);

/* The variable with this name: a symbol that is visible to all modules has priority over one of a single module. NULL:
 * none. */
const struct image_var *image_var_find(const struct image *im, const char *name);

/* The text between the braces of an opaque variable's element, such as "width = 5". NULL: none. */
const char *image_var_fields(const struct image_var *v, size_t element, size_t *length);

/* The number of a module's function. Functions that no module defines (vprintf) have numbers, too, one for each module
 * that declares them. */
uint32_t image_func_number(const struct image *im, size_t module, const struct ptx_func *func);

/* The function with that number; result.func is NULL if there is none. */
struct ptx_place image_func_at(const struct image *im, uint64_t number);

/* The number of the kernel with this name, as a loader looks it up; UINT32_MAX: none. */
uint32_t image_kernel_find(const struct image *im, const char *name);

/* ---- shared memory of a kernel ----------------------------------------------------------------- */

struct image_shared_var {
    /* the definition; for dynamic memory: one entry for each declaration */
    const struct ptx_var *var;
    uint64_t size; /* 0: dynamic shared memory */
    uint32_t offset, align;
};
struct image_shared {
    /* Module variables in order of modules and declarations, then variables of bodies; dynamic ones are included. */
    struct image_shared_var *vars;
    size_t count;
    uint32_t size;    /* bytes of static shared memory */
    uint32_t dynamic; /* offset of dynamic shared memory: `size`, aligned */
    bool has_dynamic; /* some function names an .extern array */
    const struct image *image;
    struct image_map *map;
};

/* Assigns offsets to all .shared variables that the functions name; their bodies must have been parsed. Variables that
 * no module defines are dynamic shared memory. NULL: more than image.shared_limit; `*why` as above. */
struct image_shared *image_shared_new(const struct image *im, struct arena *arena,
                                      const struct ptx_reach *reach, char **why);

/* The offset of a .shared variable; UINT32_MAX: none of the functions names it. */
uint32_t image_shared_offset(const struct image_shared *s, size_t module,
                             const struct ptx_sym *sym);

/* ---- parameters -------------------------------------------------------------------------------- */

struct image_param {
    const struct ptx_var *var;
    uint32_t offset, size, align;
};
struct image_params {
    struct image_param *list;
    uint32_t count;
    uint32_t size;  /* bytes up to the end of the last parameter, as a driver counts them */
    uint32_t align; /* the largest, at least 1 */
};

/* Assigns offsets to parameters or results: each at the next multiple of its alignment, at least its natural alignment.
 * A .reg parameter holds its value (.pred: 4 bytes), an opaque one 8 bytes, an unsized array none. false: more than
 * `limit` bytes; `*why` as above. */
bool image_params_layout(struct arena *arena, struct ptx_var *const *vars, size_t count,
                         uint32_t limit, struct image_params *out, char **why);

#endif
