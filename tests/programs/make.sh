#!/bin/sh
# Makes an executable of one of the programs: of its source where there is nvcc, else of the object that is checked in.
#     make.sh SOURCE.cu OUTPUT FOLDER     of libcudart.so.13 and libcuda.so.1
# Where neither can be had, it says so and there is no executable.
set -eu
source=$1 output=$2 libraries=$3
here=$(dirname "$0")
name=$(basename "$source" .cu)
if command -v "${NVCC:=nvcc}" >/dev/null; then
    "$here/build.sh" "$NVCC" "$source" "$output" -L"$libraries" && exit || [ $? = 77 ]
    echo "skipped: $name wants a newer nvcc"
elif [ "$(uname -m)" = x86_64 ] && tar -xzf "$here/objects.tar.gz" -C "$(dirname "$output")" "./$name.o" 2>/dev/null; then
    ${CC:-cc} -o "$output" "$output.o" -L"$libraries" -l:libcudart.so.13 -l:libcuda.so.1 -l:libstdc++.so.6 -lm -lpthread \
        -Wl,-rpath-link,"$libraries"
else
    echo "skipped: $name wants nvcc"
fi
