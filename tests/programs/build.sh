#!/bin/sh
# Builds one of the programs with nvcc: PTX alone, the shared runtime.
#     build.sh NVCC SOURCE.cu OUTPUT [NVCC'S OPTIONS...]
# A source says at its top what it needs: "// FLAGS: ...", "// NEEDS: 12" (the least version of CUDA). Exit status 77:
# this nvcc is older.
set -eu
nvcc=$1 source=$2 output=$3
shift 3
header() { sed -n "1,6s|^// $1: *||p" "$source"; }
needs=$(header NEEDS)
version=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\).*/\1/p')
[ -z "$needs" ] || [ "$version" -ge "$needs" ] || exit 77
flags=$(header FLAGS)
case $flags in *-arch=*) ;; *) flags="-arch=compute_75 $flags" ;; esac
# shellcheck disable=SC2086 # they are several
exec "$nvcc" -std=c++17 -cudart shared $flags -o "$output" "$source" "$@"
