#!/bin/sh
# Fills DIR with the inputs that fuzzing starts from.
#     tools/fuzz-seeds.sh ptx|emu|trace DIR
# ptx: every 4th module of tests/verdicts, the small files of the corpus, and what earlier runs left in
# tests/fuzz/corpus.tar.gz. emu: the modules of tests/fuzz/emu and the small ones of the corpus and of suites,
# each with several settings in front (tests/fuzz/fuzz_emu.c); the same as bytes that a kernel is made from;
# and what was found and lies in tests/fuzz/emu. trace: traces of two small kernels (tests/fuzz/fuzz_trace.c).
# The same tree gives the same files.
set -eu
LC_ALL=C
export LC_ALL

[ $# = 2 ] || { echo "usage: tools/fuzz-seeds.sh ptx|emu|trace DIR" >&2; exit 2; }
mkdir -p "$2"
dir=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

if [ "$1" = trace ]; then
    bin=build/clang-san
    for kernel in tests/fuzz/trace/*.ptx; do
        for how in "--gpu titanv" "--gpu gtx480" "--gpu titanv --order gpudet" "--gpu titanv --order dab" --addresses "--addresses --order dab"; do
            name=$dir/$(basename "$kernel" .ptx)$(echo "$how" | tr -d ' -')
            # shellcheck disable=SC2086
            "$bin/heddle" trace record $how "$kernel" --grid 3 --block 64 --arg 'buf:u32[256]=iota' -o "$name" 2>/dev/null
            "$bin/tests/fuzz/fuzz_trace" --plain "$name" "$name-plain"
        done
    done
    echo "$(ls "$dir" | wc -l) seeds in $2"
    exit
fi

if [ "$1" = emu ]; then
    n=0
    for f in $(find tests/fuzz/emu build/corpus tests/corpus/hand suites/ptx -name '*.ptx' -size -8192c | sort); do
        n=$((n + 1))
        name=$dir/$(basename "$(dirname "$f")")-$(basename "$f" .ptx)
        for k in 0 1 2; do # divergence, lockstep, instruction set, counts, threads, checks, grid, block
            one=$(printf '\\%03o' $(((n * 29 + k * 87) % 256)) $((k * 229 % 256)) $((n % 6 + 16)) $((n % 9)))
            { printf "T$one"; printf '\001\007\000'; cat "$f"; } >"$name-$k"
        done
        one=$(printf '\\%03o' $((n * 53 % 256)) 0 $((n % 6)) $((n % 9)) $((n % 64)))
        { printf "G$one"; printf '\003'; printf "\\00$((n % 2))"; head -c 1500 "$f"; } >"$name-made"
    done
    find tests/fuzz/emu -type f ! -name '*.ptx' -exec cp {} "$dir" \;
    echo "$(ls "$dir" | wc -l) seeds in $2"
    exit
fi

# A case is a line `//// NAME: accept|reject` and the text up to the next such line; the text behind
# `//// prologue` stands in front of each case that follows.
awk -v dir="$dir" '
    function leave() {
        if (out != "") close(out)
        out = ""
    }
    FNR == 1 {
        leave()
        file = FILENAME
        sub(/.*\//, "", file)
        sub(/\.cases$/, "", file)
        prologue = ""
        in_prologue = 0
    }
    /^\/\/\/\/ / {
        leave()
        in_prologue = $2 == "prologue"
        if (in_prologue) prologue = ""
        else if (n++ % 4 == 0) {
            name = $2
            gsub(/[^A-Za-z0-9._-]/, "", name)
            out = dir "/" file "-" name ".ptx"
            printf "%s", prologue >out
        }
        next
    }
    in_prologue { prologue = prologue $0 "\n" }
    !in_prologue && out != "" { print >out }
' tests/verdicts/*.cases

find build/corpus tests/corpus/hand -name '*.ptx' -size -12288c -exec cp {} "$dir" \;
tools/fuzz-corpus.sh extract "$dir"
echo "$(ls "$dir" | wc -l) seeds in $2"
