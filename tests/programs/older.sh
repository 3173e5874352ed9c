#!/bin/bash
# The programs with another nvcc, 11.8 or 12.4 say: builds each, runs it under every order. By hand.
#     NVCC=path older.sh [NAMES...]     HEDDLE names the program, ./heddle
set -u
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fine=0 bad=0 skipped=0
[ $# -gt 0 ] || set -- $(basename -s .cu "$here"/*.cu)
for name; do
    rc=0
    timeout 300 "$here/build.sh" "${NVCC:-nvcc}" "$here/$name.cu" "$scratch/$name" >"$scratch/log" 2>&1 || rc=$?
    if [ $rc = 77 ]; then
        skipped=$((skipped + 1))
        continue
    fi
    if [ $rc != 0 ]; then
        echo "$name: not built: $(grep -m1 error "$scratch/log")"
        bad=$((bad + 1))
        continue
    fi
    ok=yes
    for order in native 'random --seed 1' 'random --seed 2' gpudet dab; do
        # shellcheck disable=SC2086 # an order and its seed
        timeout 120 "${HEDDLE:-./heddle}" run --quiet --order $order "$scratch/$name" >"$scratch/out" 2>&1 || {
            echo "$name, $order: $(tail -n 3 "$scratch/out" | cut -c1-200)"
            ok=no
        }
    done
    [ $ok = yes ] && fine=$((fine + 1)) || bad=$((bad + 1))
    rm -f "$scratch/$name"
done
echo "$fine fine, $bad not, $skipped want a newer nvcc"
[ $bad = 0 ]
