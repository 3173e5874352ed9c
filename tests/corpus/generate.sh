#!/bin/bash
# Makes the PTX of the test corpus from the files in cuda.cu (nvcc 13) and clang.cu (clang 14).
#
#   generate.sh OUTDIR                everything: each source, variant and target
#   generate.sh --checked-in [DIR]    the subset kept in the repository (ptx.tar.gz), or in DIR
#   generate.sh --check               were ptx.tar.gz and the sources left as --checked-in left them? Needs no compiler.
#   generate.sh --compare             is ptx.tar.gz what --checked-in makes today?
#   generate.sh --verify DIR          does ptxas take DIR/*.ptx and hand/*.ptx?
#
# NVCC, CLANG and PTXAS name the tools. ONLY='glob glob' limits a run to the
# sources whose names match. README.md says how a source names its flags.

set -u
LC_ALL=C
export LC_ALL

: "${NVCC:=nvcc}"
: "${PTXAS:=ptxas}"
if [ -z "${CLANG:-}" ]; then
    CLANG=clang-14
    command -v "$CLANG" >/dev/null 2>&1 || CLANG=clang
fi

CUDA_ARCHES='75 80 90 100'
CLANG_ARCHES='20 30 35 50 60 70 75'
JOBS=$(nproc 2>/dev/null || echo 2)
MAX_FILE=1200000    # bytes: nothing larger is checked in
MAX_TOTAL=7000000   # bytes: all that is checked in

die() { echo "generate.sh: $*" >&2; exit 2; }

# A folder as the caller names it, seen from here.
from_start() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$start/$1" ;;
    esac
}

start=$PWD
corpus=$(cd "$(dirname "$0")" && pwd -P) || exit 2
cd "$corpus" || exit 2

scratch=$(mktemp -d "${TMPDIR:-/tmp}/heddle-corpus.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
# A line `// ==== NAME ====` begins each file of the two sources.
scratch=$(cd "$scratch" && pwd -P)
sources=$scratch/sources
mkdir -p "$sources/cuda" "$sources/clang" && ln -s "$corpus/hand" "$sources/hand" || exit 2
awk -v dir="$sources" '
    FNR == 1 { if (out) close(out); out = "" }
    /^\/\/ ==== .* ====$/ { if (out) close(out); out = dir "/" $3; next }
    out { print >out }' cuda.cu clang.cu
cd "$sources" || exit 2
trap 'exit 130' INT TERM

# ---------------------------------------------------------------- tools

nvcc_ok=no
nvcc_note='nvcc not found'
cuda_root=
if command -v "$NVCC" >/dev/null 2>&1; then
    if "$NVCC" --version 2>/dev/null | grep -q 'release 13\.0'; then
        nvcc_ok=yes
        cuda_root=$(dirname "$(dirname "$(readlink -f "$(command -v "$NVCC")")")")
    else
        nvcc_note='nvcc is not release 13.0'
    fi
fi

clang_ok=no
clang_note='clang 14 not found'
if command -v "$CLANG" >/dev/null 2>&1; then
    if "$CLANG" --version 2>/dev/null | grep -q 'version 14\.'; then
        clang_ok=yes
    else
        clang_note='clang is not version 14'
    fi
fi

# ---------------------------------------------------------------- sources

# The words after "// KEY:" at the top of a source.
header() { sed -n "1,20s|^// $2: *||p" "$1"; }

selected() { # selected NAME: does ONLY let it through?
    [ -n "${ONLY:-}" ] || return 0
    local glob
    set -f
    for glob in $ONLY; do
        # shellcheck disable=SC2254
        case $1 in $glob) set +f; return 0 ;; esac
    done
    set +f
    return 1
}

# One target of a list, by the name's checksum, so that the choice is spread
# over the targets and does not move when other sources come and go.
rotate() { # rotate NAME ARCH...
    local sum name=$1
    shift
    sum=$(printf '%s' "$name" | cksum)
    sum=${sum%% *}
    shift $((sum % $#))
    echo "$1"
}

# Lists the units of a run, one a line:
#   compiler|source|output base name|arch|flags
units() { # units full|checked-in
    local mode=$1 compiler src name arches flags keep variants unit vflags a word
    for compiler in nvcc clang; do
        for src in $([ $compiler = nvcc ] && echo cuda/*.cu || echo clang/*.c clang/*.cu); do
            [ -f "$src" ] || continue
            name=${src##*/}
            name=${name%.*}
            selected "$name" || continue
            arches=$(header "$src" ARCH)
            if [ -z "$arches" ]; then
                [ $compiler = nvcc ] && arches=$CUDA_ARCHES || arches=$CLANG_ARCHES
            fi
            flags=$(header "$src" FLAGS)
            keep=$(header "$src" KEEP)
            { echo; header "$src" VARIANT; } | while IFS= read -r variants; do
                unit=$name
                vflags=
                word=
                if [ -n "$variants" ]; then
                    unit=$name-${variants%% *}
                    vflags=${variants#* }
                fi
                [ $compiler = clang ] && unit=$unit.clang
                if [ "$mode" = full ]; then
                    for a in $arches; do
                        echo "$compiler|$src|$unit|$a|$flags $vflags"
                    done
                    continue
                fi
                # KEEP: words for the plain build, VARIANT=WORD for a variant; a word is a
                # target or "no".
                for a in $keep; do
                    case $a in
                    *=*) [ -n "$variants" ] && [ "${a%%=*}" = "${variants%% *}" ] && word="$word ${a#*=}" ;;
                    *) [ -z "$variants" ] && word="$word $a" ;;
                    esac
                done
                case " $word " in *' no '*) continue ;; esac
                # shellcheck disable=SC2086
                [ -n "$word" ] || word=$(rotate "$unit" $arches)
                for a in $word; do
                    echo "$compiler|$src|$unit|$a|$flags $vflags"
                done
            done
        done
    done
}

# ---------------------------------------------------------------- building

# Takes out of the text what is this machine's and not the source's: paths, and
# the per-path hash that nvcc puts into the names of file-local symbols.
neutral() { # neutral SOURCE < PTX
    local hash
    hash=$(printf '%s' "$1" | cksum)
    hash=$(printf '%08x' "${hash%% *}")
    sed -E \
        -e "s/(_INTERNAL_|GLOBAL__N__|__nv_static_[0-9]+__)[0-9a-f]{8}_/\1${hash}_/g" \
        -e "s/(95,73,78,84,69,82,78,65,76,95,)([0-9]+,){8}/\1$(bytes_of "$hash" | sed "s/, \*/,/g"),/" \
        ${cuda_root:+-e "s~^//($cuda_root|/[^: ]*/bin/\.\.)/(targets/[^/]*/)?include/~//cuda/include/~"} \
        -e "/^[[:space:]]*\.file[[:space:]]/{
            s|\"$sources/|\"|
            ${cuda_root:+s|\"$cuda_root/(targets/[^/]*/)?include/|\"cuda/include/|}
            s|\"[^\"]*/usr/include/|\"include/|
            s|\"/[^\"]*/([^\"/]*)\"|\"\1\"|
            s|, [0-9]+, [0-9]+\$||
        }"
}

build() { # build COMPILER SOURCE ARCH FLAGS OUT: no output file when it fails
    local compiler=$1 src=$2 arch=$3 flags=$4 out=$5 rc=0
    local raw=$scratch/${out##*/}.raw log=$scratch/${out##*/}.log
    rm -f "$raw" "$out"
    case $compiler in
    nvcc)
        # shellcheck disable=SC2086
        "$NVCC" -std=c++17 -w -ptx -arch=sm_$arch $flags "$src" -o "$raw" 2>"$log" || rc=1
        ;;
    clang)
        case $src in
        *.cu)
            # shellcheck disable=SC2086
            "$CLANG" -x cuda --cuda-device-only -nocudainc -nocudalib -Iclang -w -O2 -S \
                -std=c++17 --cuda-gpu-arch=sm_$arch $flags "$src" -o "$raw" 2>"$log" || rc=1
            ;;
        *)
            # shellcheck disable=SC2086
            "$CLANG" --target=nvptx64-nvidia-cuda -Iclang -w -O2 -S -ffreestanding \
                -march=sm_$arch $flags "$src" -o "$raw" 2>"$log" || rc=1
            ;;
        esac
        ;;
    esac
    if [ $rc -ne 0 ] || [ ! -s "$raw" ]; then
        echo "FAILED $out: $compiler $src sm_$arch $flags" >&2
        sed 's/^/    /' "$log" | head -20 >&2
        return 1
    fi
    neutral "$src" <"$raw" >"$out"
    rm -f "$raw" "$log"
}

# The decimal byte list that a path becomes in a ".b8" initialiser.
bytes_of() { printf '%s' "$1" | od -An -v -tu1 | tr -s ' \n' ' ' | sed 's/^ //;s/ $//;s/ /, */g'; }

# Fails for a file that still names a place on this machine.
clean() { # clean FILE
    local p
    for p in "$corpus" "$scratch" "${HOME:-/root}/" /usr/local/ /usr/include/ ${cuda_root:+"$cuda_root"}; do
        if grep -qF "$p" "$1" || grep -qE "(^|[^0-9])$(bytes_of "$p")([^0-9]|\$)" "$1"; then
            echo "PATH $p in $1" >&2
            return 1
        fi
    done
}

# Builds every JOBS-th unit of the list, from the one behind FIRST.
build_part() { # build_part DIR FIRST
    local dir=$1 n=-$2 bad=0 compiler src unit arch flags
    while IFS='|' read -r compiler src unit arch flags; do
        [ $((n++ % JOBS)) = 0 ] || continue
        build "$compiler" "$src" "$arch" "$flags" "$dir/$unit.sm_$arch.ptx" </dev/null || bad=1
    done <"$scratch/units"
    return $bad
}

generate() { # generate full|checked-in DIR
    local mode=$1 dir=$2 bad=0 total=0 size compiler src unit arch flags out k parts=
    mkdir -p "$dir" || exit 2
    units "$mode" | while IFS='|' read -r compiler unit; do
        case $compiler in
        nvcc) [ $nvcc_ok = yes ] || continue ;;
        clang) [ $clang_ok = yes ] || continue ;;
        esac
        echo "$compiler|$unit"
    done >"$scratch/units"
    for ((k = 0; k < JOBS; k++)); do
        build_part "$dir" $k &
        parts="$parts $!"
    done
    for k in $parts; do wait "$k" || bad=1; done
    [ "$mode" = checked-in ] || return $bad
    while IFS='|' read -r compiler src unit arch flags; do
        out=$dir/$unit.sm_$arch.ptx
        [ -f "$out" ] || continue
        clean "$out" || { bad=1; rm -f "$out"; continue; }
        size=$(wc -c <"$out")
        if [ "$size" -gt $MAX_FILE ]; then
            echo "too large to check in ($size bytes): $out" >&2
            rm -f "$out"
            continue
        fi
        total=$((total + size))
    done <"$scratch/units"
    if [ $total -gt $MAX_TOTAL ]; then
        echo "the checked-in set is $total bytes, more than $MAX_TOTAL" >&2
        bad=1
    fi
    return $bad
}

notices() {
    [ $nvcc_ok = yes ] || echo "skipped: $nvcc_note"
    [ $clang_ok = yes ] || echo "skipped: $clang_note"
}

digests() { (cd "$corpus" && ../../tools/digests.sh "$1" ptx.digests generate.sh cuda.cu clang.cu ptx.tar.gz); }

ptx=$scratch/ptx # what ptx.tar.gz has
unpack() {
    mkdir "$ptx" && { [ ! -f "$corpus/ptx.tar.gz" ] || tar -xzf "$corpus/ptx.tar.gz" -C "$ptx"; }
}
pack() { # the same files give the same archive
    (cd "$ptx" && tar --sort=name --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -cf - -- *.ptx) |
        gzip -9n >"$scratch/ptx.tar.gz" && cp "$scratch/ptx.tar.gz" "$corpus/ptx.tar.gz"
}

compare() {
    local f stale=0 base
    notices
    [ $nvcc_ok = yes ] || [ $clang_ok = yes ] || return 0
    unpack
    generate checked-in "$scratch/new" || stale=1
    for f in "$scratch"/new/*.ptx; do
        [ -f "$f" ] || continue
        base=${f##*/}
        if [ ! -f "$ptx/$base" ]; then
            echo "missing: $base"
            stale=1
        elif ! cmp -s "$f" "$ptx/$base"; then
            echo "stale: $base"
            stale=1
        fi
    done
    [ -z "${ONLY:-}" ] || return $stale
    for f in "$ptx"/*.ptx; do
        [ -f "$f" ] || continue
        base=${f##*/}
        case $base in
        *.clang.sm_*) [ $clang_ok = yes ] || continue ;;
        *) [ $nvcc_ok = yes ] || continue ;;
        esac
        if [ ! -f "$scratch/new/$base" ]; then
            echo "no source makes: $base"
            stale=1
        fi
    done
    return $stale
}

verify() { # verify DIR
    local f arch target flags bad=0 n=0
    command -v "$PTXAS" >/dev/null 2>&1 || { echo "skipped: ptxas not found"; return 0; }
    for f in "$1"/*.ptx hand/*.ptx; do
        [ -f "$f" ] || continue
        case $f in
        hand/*) selected "$(basename "$f" .ptx)" || continue ;;
        *) selected "$(basename "$f" | sed "s/[-.].*//")" || continue ;;
        esac
        target=$(sed -n 's/^[[:space:]]*\.target[[:space:]]*sm_\([0-9]*[af]\{0,1\}\).*/\1/p' "$f" | head -1)
        arch=$(header "$f" ARCH)
        if [ -z "$arch" ]; then
            arch=$target
            case $target in
            *[af]) ;;
            *) [ "$target" -ge 75 ] || arch=75 ;;
            esac
        fi
        # 32-bit code is only parsed and checked by today's ptxas, never compiled.
        grep -qE '^[[:space:]]*\.address_size[[:space:]]+64' "$f" && arch=sm_$arch || arch=compute_${arch%[af]}
        flags=-c
        # -c wants PTX ISA 3.1; what is older has no unresolved names anyway.
        grep -qE '^[[:space:]]*\.version[[:space:]]+([12]\.|3\.0)' "$f" && flags=
        n=$((n + 1))
        # shellcheck disable=SC2086
        if ! "$PTXAS" -O0 -arch=$arch $flags "$f" -o "$scratch/cubin" >"$scratch/log" 2>&1; then
            echo "REFUSED $f ($arch)"
            head -5 "$scratch/log" | sed 's/^/    /'
            bad=1
        fi
    done
    echo "ptxas took $n modules, less those named above"
    return $bad
}

# ---------------------------------------------------------------- main

case ${1:-} in
--checked-in)
    notices
    dir=$ptx
    [ $# -lt 2 ] || dir=$(from_start "$2")
    if [ "$dir" = "$ptx" ]; then
        unpack
        # Files of a compiler that is not here stay as they are.
        for f in "$ptx"/*.ptx; do
            [ -f "$f" ] && [ -z "${ONLY:-}" ] || continue
            case $f in
            *.clang.sm_*) [ $clang_ok = yes ] && rm -f "$f" ;;
            *) [ $nvcc_ok = yes ] && rm -f "$f" ;;
            esac
        done
    fi
    generate checked-in "$dir" || exit
    [ "$dir" = "$ptx" ] || exit 0
    pack || exit
    # The list says that the whole archive is current: not after a run of some sources or with one compiler.
    [ -z "${ONLY:-}" ] && [ "$nvcc_ok$clang_ok" = yesyes ] && digests --write
    exit 0
    ;;
--check) digests --check ;;
--compare) compare ;;
--verify) [ $# -eq 2 ] || die "--verify wants a folder"; verify "$(from_start "$2")" ;;
'' | -*) die "usage: generate.sh [--checked-in|--check|--compare|--verify] [DIR]" ;;
*)
    notices
    generate full "$(from_start "$1")"
    ;;
esac
