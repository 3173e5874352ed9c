#!/bin/sh
# Makes an executable of one of the programs: of the object that is checked in, where this was made of the source as it is,
# else of the source, with nvcc. FROM_SOURCE=1 always takes the source.
#     make.sh SOURCE.cu OUTPUT FOLDER     of libcudart.so.13 and libcuda.so.1
# Where neither can be had, it says so and there is no executable.
set -eu
source=$1 output=$2 libraries=$3
here=$(dirname "$0")
name=$(basename "$source" .cu)

object_is_current() { # and lies beside the output
    [ "$(uname -m)" = x86_64 ] &&
        tar -xzf "$here/objects.tar.gz" -C "$(dirname "$output")" --transform="s|^./sources|$name.sources|" \
            ./sources "./$name.o" 2>/dev/null &&
        grep -E " (\./)?($name\.cu|self\.cuh|build\.sh)\$" "$output.sources" | (cd "$here" && sha256sum --check --status)
}

trap 'rm -f "$output.sources"' EXIT
if [ -z "${FROM_SOURCE:-}" ] && object_is_current; then
    ${CC:-cc} -o "$output" "$output.o" -L"$libraries" -l:libcudart.so.13 -l:libcuda.so.1 -l:libstdc++.so.6 -lm -lpthread \
        -Wl,-rpath-link,"$libraries"
elif command -v "${NVCC:=nvcc}" >/dev/null; then
    "$here/build.sh" "$NVCC" "$source" "$output" -L"$libraries" && exit || [ $? = 77 ]
    echo "skipped: $name wants a newer nvcc"
else
    echo "skipped: $name wants nvcc"
fi
