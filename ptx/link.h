/* ptx/link.h: several modules as one program (nvcc -rdc=true).
 *
 *     struct ptx_program *p = ptx_link(arena, modules, n);   // reports to each module's diags
 *     struct ptx_reach r = ptx_program_reach(p, kernel_module, kernel);
 *     for (size_t i = 0; i < r.count; i++) lower(r.funcs[i].module, r.funcs[i].func);
 *
 * Names join: an .extern declaration means the .visible, .weak or .common definition of that name in
 * another module; a name without linkage is its module's own. A .visible definition beats .weak ones,
 * of several .weak ones the first module's counts, .common variables become one of the largest size.
 * Bodies are read only when ptx_program_reach comes to them. */
#ifndef HEDDLE_PTX_LINK_H
#define HEDDLE_PTX_LINK_H

#include "ptx/ptx.h"

struct ptx_def { /* what a name means in the whole program */
    const struct ptx_name *name;
    size_t module;         /* index */
    struct ptx_func *func; /* one of the two */
    struct ptx_var *var;
};

struct ptx_program {
    struct arena *arena;
    struct ptx_module **modules;
    size_t count;
    struct ptx_def *defs; /* hash table by name, of size mask + 1 */
    size_t def_count, mask;
};

/* Links modules whose heads were read without errors. Clashes are reported to the later module. The
 * arena owns the program, not the modules. */
struct ptx_program *ptx_link(struct arena *arena, struct ptx_module *const *modules, size_t count);

/* The definition that a module means by a function or variable of its own: itself, or what another
 * module has for an .extern name. NULL: nobody has it. */
const struct ptx_def *ptx_program_find(const struct ptx_program *p, const struct ptx_name *name);

struct ptx_place {
    size_t module;
    struct ptx_func *func;
};
struct ptx_reach {
    struct ptx_place *funcs; /* in the order they were met; [0] is where the search began */
    size_t count;
    bool ok;      /* all bodies could be read, every name was found */
    bool runtime; /* something is called that the runtime supplies */
};

/* Every function that can be reached from one by calls, by addresses that are taken, or through
 * initial values of variables that are named on the way; where an address is called without a list of targets, every
 * function whose address is taken anywhere. Reads their bodies, and then all. Kernels whose address is taken
 * are not among them: a launch begins anew. */
struct ptx_reach ptx_program_reach(struct ptx_program *p, size_t module, struct ptx_func *func);

/* What ptxas does with a module that is not to be linked: every function that a body calls, or whose address it takes, must
 * be in the module or supplied by the runtime, and `.extern .global` and `.extern .const` variables that it does not define
 * become its own, unless they are arrays without a size. What is missing is reported to its diags, and false returned. */
bool ptx_module_close(struct ptx_module *m);

/* Calls of these names are the runtime's even if a module defines the function: its body is for GPUs
 * (include/heddle/device_io.h). */
#define PTX_FILE_CALLS "__heddle_file_"
/* Whether a name is supplied by the runtime and needs no definition: vprintf, malloc ... */
bool ptx_runtime_has(const struct ptx_name *name);

#endif
