#define _GNU_SOURCE
#include "cli/compile.h"

#include "base/arena.h"
#include "cli/cli.h"
#include "cuda/fatbin.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool compile_is_source(const char *path)
{
    const size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".cu") == 0;
}

/* ---- the compiler ----------------------------------------------------------------------------------------- */

static const char *in_folder(struct arena *a, const char *folder, size_t length)
{
    const char *path = arena_printf(a, "%.*s/nvcc", (int)length, folder);
    return length && access(path, X_OK) == 0 ? path : NULL;
}

static const char *find_compiler(struct arena *a)
{
    const char *own = getenv("NVCC"), *home = getenv("CUDA_HOME"), *found = NULL;
    if (own && *own) return own;
    for (const char *at = getenv("PATH"); at && *at && !found; at += *at == ':') {
        const size_t n = strcspn(at, ":");
        found = in_folder(a, at, n);
        at += n;
    }
    if (!found && home) {
        const char *bin = arena_printf(a, "%s/bin", home);
        found = in_folder(a, bin, strlen(bin));
    }
    return found ? found : in_folder(a, "/usr/local/cuda/bin", strlen("/usr/local/cuda/bin"));
}

static bool is_clang(const char *compiler)
{
    const char *slash = strrchr(compiler, '/');
    return strncmp(slash ? slash + 1 : compiler, "clang", 5) == 0;
}

/* What the words print goes to *out, or where this process prints; the exit status, -1: they cannot be run. */
static int run(char **words, FILE **out)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ends[2] = {-1, -1}, status = -1;
    if (out && pipe(ends) != 0) return -1;
    posix_spawn_file_actions_init(&actions);
    if (out) {
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
    } else posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    const int wrong = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (out) {
        close(ends[1]);
        *out = fdopen(ends[0], "r");
    }
    if (wrong) return errno = wrong, -1;
    if (out) return (int)child;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The highest of those it lists ("compute_75") that is not above, else, of a GPU that is older than all, the
 * lowest; 0: there is none; -1: it cannot be run. */
static int architecture(const char *compiler, unsigned capability)
{
    char *words[] = {(char *)(uintptr_t)compiler, "--list-gpu-arch", NULL};
    char line[128];
    FILE *list = NULL;
    unsigned best = 0, least = 0, one;
    int status;
    const int child = run(words, &list);
    while (list && fgets(line, sizeof line, list))
        if (sscanf(line, "compute_%u", &one) == 1) {
            if (one <= capability && one > best) best = one;
            if (!least || one < least) least = one;
        }
    if (!best && capability < FATBIN_OLDEST) best = least;
    if (list) (void)fclose(list);
    if (child < 0) return -1;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -1 : (int)best;
}

/* ---- the program ------------------------------------------------------------------------------------------ */

static const char *temporary_folder(struct arena *a)
{
    const char *root = getenv("TMPDIR");
    return mkdtemp(arena_printf(a, "%s/heddle-XXXXXX", root && *root ? root : "/tmp"));
}

static const char *stem(struct arena *a, const char *source)
{
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
    return arena_copy(a, name, strlen(name) - 3);
}

int compile_program(struct arena *a, const char *command, const char *source, unsigned capability,
                    char **program)
{
    const char *compiler = find_compiler(a);
    if (access(source, R_OK) != 0) return usage_error(command, "'%s': %s", source, strerror(errno));
    if (!compiler)
        return usage_error(command,
                           "'%s' needs nvcc, which is not in PATH, CUDA_HOME/bin or "
                           "/usr/local/cuda/bin; name it by NVCC",
                           source);
    if (is_clang(compiler))
        return usage_error(command,
                           "'%s' cannot replace nvcc: it has no CUDA headers, ptxas or "
                           "fatbinary of its own, but uses those of a toolkit, which also has nvcc",
                           compiler);
    const int known = architecture(compiler, capability);
    if (known < 0) return usage_error(command, "cannot run '%s': %s", compiler, strerror(errno));
    if (!known)
        return usage_error(command,
                           "%s makes no PTX for compute capability %u.%u or below: choose "
                           "another --gpu",
                           compiler, capability / 10, capability % 10);
    const char *folder = temporary_folder(a);
    if (!folder) return usage_error(command, "no temporary folder: %s", strerror(errno));
    char *path = arena_printf(a, "%s/%s", folder, stem(a, source));
    const char *code = arena_printf(a, "arch=compute_%d,code=compute_%d", known, known);
    const char *words[] = {compiler,
                           "-cudart",
                           "shared",
                           "-lineinfo",
                           "--extended-lambda",
                           "--expt-relaxed-constexpr",
                           "-gencode",
                           code,
                           "-Xcompiler",
                           "-g",
                           "-o",
                           path,
                           source,
                           NULL};
    *program = path;
    const int status = run((char **)(void *)words, NULL);
    if (status == 0) return EXIT_FINE;
    compile_remove(path);
    if (status > 0) { /* it has said why */
        fprintf(stderr, "heddle %s: NVCC_APPEND_FLAGS holds more flags, as -rdc=true\n", command);
        return EXIT_INPUT;
    }
    return usage_error(command, "cannot run '%s': %s", compiler, strerror(errno));
}

void compile_remove(const char *program)
{
    char folder[4096];
    const char *slash = strrchr(program, '/');
    (void)unlink(program);
    if (slash && snprintf(folder, sizeof folder, "%.*s", (int)(slash - program), program) <
                     (int)sizeof folder)
        (void)rmdir(folder);
}
