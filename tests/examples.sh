#!/bin/sh
# Builds each program of examples/ against libheddle.a with a strict compiler, runs it, and compares what it prints with
# examples/NAME.out.
#     tests/examples.sh BUILD-FOLDER
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0
for f in examples/*.c; do
    name=$(basename "$f" .c)
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$f" "$1/libheddle.a" -lpcre2-8 -lzstd -lpthread -lm \
        -o "$scratch/$name"
    case $name in
    record) "$scratch/$name" suites/ptx "$scratch/run.rec" ;;
    *) "$scratch/$name" suites/ptx ;;
    esac >"$scratch/out" 2>&1 || { echo "examples/$name fails:"; cat "$scratch/out"; exit 1; }
    diff -u "examples/$name.out" "$scratch/out" || { echo "examples/$name prints something else"; exit 1; }
    count=$((count + 1))
done
echo "$count examples: all fine"
