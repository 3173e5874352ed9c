#!/bin/bash
# How far Heddle's estimate of the registers per thread is from what ptxas uses.
#
#   regs.sh [--at-most=PERCENT] [--worst=N] [FILE.ptx|FOLDER ...]
#
# Compares "registers" of `heddle ptx stats --format=json` with "Used N registers" of `ptxas -v` for
# every kernel, and prints the mean and the median of |estimate - used| / used, the mean difference in
# registers, and the worst kernels. Without arguments: build/corpus. Fails if the mean is above PERCENT.
# HEDDLE and PTXAS name the programs. Files that ptxas does not take for their own target (it drops
# old ones) are tried for sm_75, then left out. Without ptxas there is nothing to compare with, which
# is said, and is no failure.

set -u
LC_ALL=C
export LC_ALL
: "${HEDDLE:=./heddle}"
: "${PTXAS:=ptxas}"

at_most=
worst=5
inputs=()
for arg in "$@"; do
    case $arg in
    --at-most=*) at_most=${arg#*=} ;;
    --worst=*) worst=${arg#*=} ;;
    --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "regs.sh: unknown option $arg" >&2; exit 2 ;;
    *) inputs+=("$arg") ;;
    esac
done
if ! command -v "$PTXAS" >/dev/null 2>&1; then
    echo "regs.sh: skipped: $PTXAS not found"
    exit 0
fi
if ! command -v "$HEDDLE" >/dev/null 2>&1; then
    echo "regs.sh: $HEDDLE not found" >&2
    exit 2
fi
if [ ${#inputs[@]} -eq 0 ]; then
    inputs=("$(dirname "$0")/../build/corpus")
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/heddle-regs.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# used FILE ARCH: lines "kernel registers"
used() {
    "$PTXAS" -v -O3 -arch="$2" -o "$scratch/cubin" "$1" >"$scratch/ptxas" 2>&1 || return 1
    awk -v q="'" '
        /Compiling entry function/ { split($0, part, q); name = part[2] }
        match($0, /Used [0-9]+ registers/) && name != "" {
            split(substr($0, RSTART, RLENGTH), word, " ")
            print name, word[2]
            name = ""
        }' "$scratch/ptxas"
}

# estimated FILE: lines "function registers"
estimated() {
    "$HEDDLE" ptx stats --format=json "$1" >"$scratch/stats" 2>/dev/null || return 1
    grep -oE '"(name|registers)": *("[^"]*"|[0-9]+)' "$scratch/stats" |
        awk -F'": *' '
            { gsub(/"/, "", $1); gsub(/"/, "", $2) }
            $1 == "name" { name = $2 }
            $1 == "registers" { print name, $2 }'
}

refused=0
unread=0
files=0
while IFS= read -r file; do
    arch=$(grep -m1 -oE '^\.target[[:space:]]+sm_[0-9]+[af]?' "$file" | grep -oE 'sm_[0-9]+[af]?')
    if ! used "$file" "$arch" >"$scratch/used" && ! used "$file" sm_75 >"$scratch/used"; then
        refused=$((refused + 1))
        continue
    fi
    [ -s "$scratch/used" ] || continue
    if ! estimated "$file" >"$scratch/estimated"; then
        unread=$((unread + 1))
        echo "regs.sh: $HEDDLE ptx stats fails on $file" >&2
        continue
    fi
    files=$((files + 1))
    awk -v file="${file##*/}" '
        NR == FNR { guess[$1] = $2; next }
        $1 in guess {
            off = guess[$1] > $2 ? guess[$1] - $2 : $2 - guess[$1]
            printf "%.4f %d %d %d %s %s\n", off / $2, off, guess[$1], $2, file, $1
        }' "$scratch/estimated" "$scratch/used" >>"$scratch/all"
done < <(find "${inputs[@]}" -name '*.ptx' | sort)

if [ ! -s "$scratch/all" ]; then
    echo "regs.sh: skipped: no kernel that both ptxas and $HEDDLE read ($refused files refused by ptxas)"
    [ "$unread" -eq 0 ]
    exit
fi
sort -rn "$scratch/all" >"$scratch/sorted"
awk -v files="$files" -v refused="$refused" -v at_most="$at_most" '
    { sum += $1; registers += $2; value[NR] = $1 }
    END {
        mean = 100 * sum / NR
        printf "%d kernels of %d files (%d files refused by ptxas)\n", NR, files, refused
        printf "mean error %.1f %%, median %.1f %%, %.1f registers\n", mean,
               100 * value[int((NR + 1) / 2)], registers / NR
        exit at_most != "" && mean > at_most
    }' "$scratch/sorted"
status=$?
head -n "$worst" "$scratch/sorted" |
    awk '{ printf "  %4.0f %%  %3d for %3d  %s %.60s\n", 100 * $1, $3, $4, $5, $6 }'
[ "$status" -eq 0 ] || echo "regs.sh: the mean error is above $at_most %"
[ "$status" -eq 0 ] && [ "$unread" -eq 0 ]
