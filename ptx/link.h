/* ptx/link.h: several modules as one program (nvcc -rdc=true).
 *
 *     struct ptx_program *p = ptx_link(arena, modules, n);   // reports to each module's diags
 *     struct ptx_reach r = ptx_program_reach(p, kernel_module, kernel);
 *     for (size_t i = 0; i < r.count; i++) lower(r.funcs[i].module, r.funcs[i].func);
 *
 * Symbol resolution: an .extern declaration refers to the .visible, .weak or .common definition of that
 * name in another module; a name without linkage is local to its module. A .visible definition overrides
 * .weak ones; of several .weak ones the linker takes that of the first module; .common variables of one
 * name become one variable of the largest size. ptx_program_reach() parses only bodies that it reaches. */
#ifndef HEDDLE_PTX_LINK_H
#define HEDDLE_PTX_LINK_H

#include "ptx/ptx.h"

struct ptx_def { /* the definition of a name in the whole program */
    const struct ptx_name *name;
    size_t module;         /* index of the module that has the definition */
    struct ptx_func *func; /* the function; NULL: the definition is a variable */
    struct ptx_var *var;   /* the variable; NULL: the definition is a function */
};

struct ptx_program {
    struct arena *arena;
    struct ptx_module **modules;
    size_t count;
    struct ptx_def *defs; /* hash table by name, with mask + 1 slots */
    size_t def_count, mask;
};

/* Links modules whose module level was parsed without errors. Conflicting definitions are errors in the diags of
 * the later module. The arena owns the program, not the modules. */
struct ptx_program *ptx_link(struct arena *arena, struct ptx_module *const *modules, size_t count);

/* The definition that a name with linkage refers to, in whichever module. NULL: no module defines the name. */
const struct ptx_def *ptx_program_find(const struct ptx_program *p, const struct ptx_name *name);

struct ptx_place {
    size_t module;
    struct ptx_func *func;
};
struct ptx_reach {
    struct ptx_place *funcs; /* in the order of the search; [0] is the start */
    size_t count;
    bool ok;      /* all bodies were parsed without errors, and all names are defined */
    bool runtime; /* a reachable function calls a function of the runtime (ptx_runtime_has) */
};

/* All functions that are reachable from `func` by calls, by addresses that are taken, or through initial values of
 * variables that reachable functions use. An indirect call without a list of targets reaches every function whose
 * address is taken in any module; all bodies are parsed then, else only reachable ones. Kernels whose address is taken
 * are not part of the result: a launch of them is a search of its own. */
struct ptx_reach ptx_program_reach(struct ptx_program *p, size_t module, struct ptx_func *func);

/* Completes a module that is not linked with others, as ptxas does. Each function that a body calls, or whose address it
 * takes, must be in the module or in the runtime. `.extern .global` and `.extern .const` variables without a definition
 * become definitions, unless they are arrays without a size. Missing definitions are errors in the module's diags; returns
 * false then. */
bool ptx_module_close(struct ptx_module *m);

/* Prefix of functions that the runtime implements even if a module defines them: that body is for GPUs
 * (include/heddle/device_io.h). */
#define PTX_FILE_CALLS "__heddle_file_"
/* Whether the runtime implements the function of this name, so that it needs no definition: vprintf, malloc ... */
bool ptx_runtime_has(const struct ptx_name *name);

#endif
