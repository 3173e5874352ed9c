# shellcheck shell=sh
# What tools/timing.sh and tests/measured.sh have in common, who read this with '.': they end here, well, where there is no
# nvcc; $work is a folder that goes when they end.
if ! command -v nvcc >/dev/null; then
    echo "$(basename "$0" .sh): nvcc is not there: skipped" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# each_run NAME FUNCTION: compiles the programs of calibrate/data/NAME.cu (detailed-sim, gv100-programs) into $work/NAME, and
# calls FUNCTION with "PROGRAM" "ARGUMENTS" of each run that calibrate/data/NAME.csv has cycles of.
each_run() {
    mkdir "$work/$1" "$work/$1/sources"
    awk -v dir="$work/$1/sources" '
        /^\/\/ ==== .* ====$/ { if (out) close(out); out = dir "/" $3; next }
        out { print >out }' "calibrate/data/$1.cu"
    for f in "$work/$1/sources"/*.cu; do
        nvcc -O3 -arch=compute_75 -cudart shared -o "$work/$1/$(basename "$f" .cu)" "$f" 2>/dev/null
    done
    grep -v '^#' "calibrate/data/$1.csv" | tail -n +2 | awk -F, '{print $1 "," $2}' | sort -u >"$work/$1/runs"
    while IFS=, read -r program arguments; do
        "$2" "$program" "$arguments" </dev/null
    done <"$work/$1/runs"
}
