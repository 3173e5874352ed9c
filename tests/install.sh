#!/bin/sh
# Installs into a temporary folder and uses what is there: the program, both libraries through pkg-config,
# libcuda.so.1, libcudart.so.13, files.
#     tests/install.sh PROGRAM-ON-LIBCUDA
set -eu

suite=$(realpath "$1")
dest=$(mktemp -d)
trap 'rm -rf "$dest"' EXIT
prefix=/opt/heddle
here=$dest$prefix
fail() { echo "install.sh: $1" >&2; exit 1; }

${MAKE:-make} -s --no-print-directory install DESTDIR="$dest" PREFIX=$prefix

# Nothing is outside the prefix, and nothing says where it was built or put.
[ "$(ls "$dest")" = opt ] && [ "$(ls "$dest/opt")" = heddle ] || fail 'files outside PREFIX'
! grep -q "$dest" "$here/lib/pkgconfig/heddle.pc" || fail 'heddle.pc names DESTDIR'

cat >"$dest/example.c" <<'EOF'
#include <heddle.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct heddle_module *m = heddle_module_read_file(argv[argc - 1], NULL);
    struct heddle_device *d = heddle_device_new(NULL);
    float x[100], y[100], a = 2;
    for (int i = 0; i < 100; i++) x[i] = (float)i, y[i] = 1;
    if (!heddle_device_load(d, &m, 1)) return 1;
    uint64_t args[4] = {100, 0, heddle_device_alloc(d, sizeof x, "x"), heddle_device_alloc(d, sizeof y, "y")};
    memcpy(&args[1], &a, sizeof a);
    heddle_device_write(d, args[2], x, sizeof x);
    heddle_device_write(d, args[3], y, sizeof y);
    uint32_t grid[3] = {1, 1, 1}, block[3] = {128, 1, 1};
    struct heddle_run r = heddle_device_launch(d, "saxpy", grid, block, 0, args, 4);
    fputs(r.text, stderr);
    heddle_device_read(d, y, args[3], sizeof y);
    printf("%s %g\n", heddle_version(), (double)y[99]);
    heddle_device_free(d);
    heddle_module_free(m);
    return r.fault;
}
EOF
export PKG_CONFIG_PATH="$here/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dest"
[ -s "$here/share/man/man1/heddle.1" ] && [ -s "$here/share/man/man1/heddle-run.1" ] || fail 'no manual pages'
[ -s "$here/share/bash-completion/completions/heddle" ] || fail 'no completion'
grep -q 'Leon Sorokin' "$here/share/doc/heddle/LICENSE.uplot" || fail 'no licence of uPlot'
want="$(pkg-config --modversion heddle) 199"
cd "$dest"

${CC:-cc} example.c $(pkg-config --cflags --libs heddle) -o shared
got=$(LD_LIBRARY_PATH="$here/lib" ./shared "$here/share/heddle/ptx/saxpy.ptx")
[ "$got" = "$want" ] || fail "with the shared library: '$got', not '$want'"
LD_LIBRARY_PATH="$here/lib" ldd shared | grep -q "libheddle.so.0 => $here/lib/" || fail 'not linked by soname'

${CC:-cc} example.c $(pkg-config --cflags heddle) "$here/lib/libheddle.a" \
    $(pkg-config --static --libs heddle | sed 's/-lheddle//') -o static
got=$(./static "$here/share/heddle/ptx/saxpy.ptx")
[ "$got" = "$want" ] || fail "with the static library: '$got', not '$want'"
! ldd static | grep -q libheddle || fail 'libheddle.a was not used'

# A program may use every name that the library uses inside.
nm -g --defined-only "$here/lib/libheddle.a" >names
! awk '$3 != "" && $3 !~ /^heddle_/' names | grep . || fail 'libheddle.a exports these names'
grep -q ' heddle_module_read$' names || fail 'libheddle.a does not export heddle_module_read'
for name in arena_new arena_free buf_add buf_free diag_add digest emu_new fault lex map_new memory order parse race_new \
    reduce rng_next run schedule state text value verdict warp; do
    echo "int $name(void); int $name(void) { return 1; }"
done >>example.c
${CC:-cc} example.c $(pkg-config --cflags heddle) "$here/lib/libheddle.a" \
    $(pkg-config --static --libs heddle | sed 's/-lheddle//') -o own-names || fail "libheddle.a defines a program's own names"
got=$(./own-names "$here/share/heddle/ptx/saxpy.ptx")
[ "$got" = "$want" ] || fail "with names of its own: '$got', not '$want'"

others=$(nm -D --defined-only "$here/lib/libheddle.so" | awk '$2 != "A" && $3 !~ /^heddle_/ {print $3}')
[ -z "$others" ] || fail "libheddle.so exports $others"

# The program finds the workloads wherever it is called, and the driver API is found where heddle.pc says.
cd /
"$here/bin/heddle" run suite:saxpy --quiet || fail 'heddle run suite:saxpy'
cuda=$dest$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=cudadir heddle)
LD_LIBRARY_PATH="$cuda" ldd "$suite" | grep -q "libcuda.so.1 => $cuda/" || fail 'libcuda.so.1 is not found'
LD_LIBRARY_PATH="$cuda" ldd "$cuda/libcudart.so.13" | grep -q "libcuda.so.1 => $cuda/" || fail 'libcudart.so.13 finds another libcuda'
LD_LIBRARY_PATH="$cuda" "$suite" run saxpy >/dev/null || fail 'the driver API does not work'
"$here/bin/heddle" measure saxpy --driver "$cuda/libcuda.so.1" | grep -q '^suite:saxpy:small,,1,saxpy,' || fail 'heddle measure'
echo 'install: all fine'
