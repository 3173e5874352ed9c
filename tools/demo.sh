#!/bin/sh
# What Heddle does at this stage, on the PTX that is checked in.
set -eu
mkdir -p build/demo
corpus=build/corpus
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n== %s\n' "$*"; }

say "heddle ptx check: every checked-in module (nvcc 13, clang 14, handwritten)"
./heddle ptx check $corpus/*.ptx tests/corpus/hand/*.ptx

say "heddle ptx print --verify: what is printed reads back to the same module"
./heddle ptx print --verify $corpus/*.ptx tests/corpus/hand/*.ptx
echo "$(ls $corpus/*.ptx tests/corpus/hand/*.ptx | wc -l) modules, $(cat $corpus/*.ptx tests/corpus/hand/*.ptx | wc -c) bytes: all equal"

say "heddle ptx stats: a kernel at a glance"
./heddle ptx stats $corpus/histogram.*.ptx | head -20

say "heddle ptx check: a wrong one"
./heddle ptx check tests/demo/wrong.ptx 2>&1 || true

say "heddle isa: the instruction forms"
./heddle isa | tail -1
./heddle isa redux

say "heddle run: a kernel, without a GPU"
./heddle run suites/ptx/saxpy.ptx --grid 4 --block 256 --arg 1000 --arg f32:2 \
    --arg 'buf:f32[1000]=iota' --arg 'buf:f32[1000]=const(1)'

say "heddle run: the same with an n that is larger than the buffers"
./heddle run suites/ptx/saxpy.ptx --grid 4 --block 256 --arg 1024 --arg f32:2 \
    --arg 'buf:f32[1000]=iota' --arg 'buf:f32[1000]=const(1)' 2>&1 || true

say "heddle run --profile --counts: what a search through a graph costs, by line, and where"
counts=$(mktemp)
./heddle run suite:bfs_fixed --gpu v100 --profile --counts "$counts"
grep -m 12 -E '"(kernel|instructions.warp|branches.divergent|memory.global.load|cache|dram).*:' "$counts"
rm "$counts"

say "heddle suite run: workloads, each compared with the host bit for bit"
./heddle suite run

say "heddle communication: which CTAs of a stencil pass data to which, and what would cross between GPUs"
./heddle communication suite:stencil_2d --partition 2,4,8 --link-bandwidth 25GB/s --matrix build/stencil.svg
echo "the matrix of writers and readers: build/stencil.svg"

say "heddle check: who depends on the order? A search with a race, and a sum of floats by atomics"
./heddle check suite:bfs_racy --quiet || true
echo
./heddle check suite:sum_atomic --quiet || true

say "heddle check: a race on a path that the native run does not take"
./heddle check tests/demo/path.ptx --grid 2 --arg 'buf:u32[64]' --order native || true

say "heddle check: one of the broken programs of tests/broken, a flag whose reader has no fence"
./heddle check tests/broken/broken.ptx --kernel missing_fence_of_reader --grid 2 --block 32 --arg 'm=buf:u32[16384]' --runs 10 --quiet || true

say "heddle ptx check --simt-deadlock: a spin lock whose lanes wait for each other for ever on GPUs before Volta"
./heddle ptx check --simt-deadlock tests/demo/spin.ptx || true

say "heddle run: the same spin lock deadlocks on a GPU before Volta, and ends on a later one"
sed 's/sm_60/sm_70/' tests/demo/spin.ptx >build/demo/spin.ptx
for kernel in tests/demo/spin.ptx build/demo/spin.ptx; do
    ./heddle run "$kernel" --block 64 --arg 'buf:u32[1]=const(0)' 2>&1 | head -2
done

say "heddle check --exhaustive: all executions of two small kernels, one with an atomic, one without"
for kernel in exact lossy; do
    ./heddle check docs/guide/increment.ptx --kernel $kernel --grid 2 --block 1 --arg 'buf:u32[1]=zero' --exhaustive || true
done

say "heddle run --locks: the words that threads contend for"
./heddle run suite:bank --order random --locks | sed -n '/contended/,$p' | head -8
./heddle run suite:ticket --order random --locks | sed -n '/contended/,$p'

say "heddle check --files: threads append to a file; one order has one result"
box=$(mktemp -d)
for order in random gpudet; do
    ./heddle check docs/guide/files.ptx --kernel append --grid 4 --block 32 --files "$box" \
        --arg 'result=buf:s32[128]' --order $order --runs 8 | grep -E "^($order|  the files|  likely)" || true
done
rm -rf "$box"

say "heddle advise: what a rewrite of a slow histogram would save"
./heddle advise suite:histogram_global --gpu titanv | head -20

say "heddle area: the storage that DAB's hardware needs on a TITAN V"
./heddle area dab:queue=l2 --gpu titanv

say "heddle run suite:litmus --table: message passing with a fence for a CTA, and with one for the GPU, between CTAs"
./heddle run 'suite:litmus:MP+fence.[cg]*@grid' --seeds 300 --table

say "heddle run suite:litmus --table: two threads each read what the other stores behind its load; a fence forbids it"
./heddle run 'suite:litmus:LB+rlx@block' --seeds 300 --table
./heddle run 'suite:litmus:LB+fence.gpu@block' --seeds 300 --table

say "heddle run --fidelity: which results PTX leaves to the hardware"
./heddle run suites/ptx/micro.ptx --kernel micro_sfu --block 32 --arg 'buf:f32[32]' --arg 16 --arg 1 --fidelity

say "heddle run --memory-map: the memory of saxpy on four devices, in blocks and interleaved"
for map in block interleave:256; do ./heddle run suite:saxpy:small --memory-map "$map" | tail -1; done
./heddle run suite:stencil_2d:small --memory-map interleave:256 --topology mesh | tail -2

say "heddle estimate --topology: what the hops between 16 partitions cost saxpy, in blocks and interleaved"
for map in block interleave:256; do
    echo "$map"
    ./heddle estimate suite:saxpy:small --memory-map "$map" --partitions 16 --topology mesh --color never | grep -E '^(all|network)'
done

say "heddle reproduce: a figure of each paper, and its verdicts"
./heddle reproduce thesis-4.2 dab-3 --output build/demo/reproduce 2>/dev/null || true
echo "the figures: build/demo/reproduce/index.html"

say "heddle check: a CUDA program, as nvcc built it, whose queue of a graph's nodes has no one order"
make -s build/programs/graphs
if [ -x build/programs/graphs ]; then ./heddle check --quiet build/programs/graphs || true; fi

say "heddle sweep: 60 cells as one plan; it is killed half-way and goes on where it was"
sweep=$(mktemp -d)
cat >"$sweep/plan.yaml" <<'END'
sweep: demo
targets: [suite:sum_atomic, suite:saxpy, suite:histogram_global, suite:append]
orders: [random, "gpudet:quantum={q}"]
vary: {q: [100, 200]}
seeds: 1-5
gpus: [gtx480]
END
./heddle sweep "$sweep/plan.yaml" --output "$sweep/out" --dry-run --probe --quiet 2>/dev/null | tail -1
./heddle sweep "$sweep/plan.yaml" --output "$sweep/out" --quiet >/dev/null 2>&1 &
half=$!
finished() { cat "$sweep/out/journal.ndjson" 2>/dev/null | wc -l; }
while [ "$(finished)" -lt 20 ] && kill -0 "$half" 2>/dev/null; do sleep 0.1; done
kill -9 "$half" 2>/dev/null || true
wait "$half" 2>/dev/null || true
echo "cells in the journal after kill -9: $(finished)"
./heddle sweep "$sweep/plan.yaml" --output "$sweep/out" --quiet || true
echo "and when it has gone on: $(finished)"
./heddle sweep report "$sweep/out" --rows target --columns order --value results
rm -rf "$sweep"

say "heddle estimate: how long it would take, and what takes so long"
./heddle estimate suite:transpose_naive --gpu titanv,gtx480
./heddle estimate suite:transpose_padded --gpu titanv,gtx480

say "heddle estimate: a CUDA program whose kernels launch grids, which run beside their parents"
make -s build/programs/grids
if [ -x build/programs/grids ]; then
    ./heddle estimate --gpu titanv build/programs/grids | sed -n '2,6s/^\(.\{95\}\).*/\1/p;$p' | fold -s -w 100
fi

say "heddle report: what a run did over time, under three orders below each other"

./heddle report suite:bfs_racy --gpu titanv --order native,gpudet,dab --races --communication \
    --output build/demo/report.html 2>&1 | tail -1
./heddle report suite:reduce_shuffle --gpu titanv --konata build/demo/warps.log
echo "another one warp by warp, for the viewer Konata: build/demo/warps.log"

say "heddle trace convert: each access, recorded in a .hdt file, as the tracer of Rieber's thesis writes it, and for Accel-Sim"
./heddle trace record --addresses suite:saxpy:small -o build/demo/saxpy.hdt 2>&1 | tail -1
./heddle trace convert build/demo/saxpy.hdt --format memtrace3 -o build/demo/saxpy.trc
./heddle trace convert build/demo/saxpy.hdt --format accelsim -o build/demo/saxpy.traces
du -b build/demo/saxpy.*

say "heddle compare: what GPUDet and DAB would take on a TITAN V, if a GPU without them takes 1"
rows=$(mktemp)
for workload in saxpy sgemm_16 hotspot stencil_3d bfs_parent histogram_shared sum_atomic conv_gradient centrality:small; do
    ./heddle compare --gpu titanv "suite:$workload" 2>/dev/null >"$rows.text"
    echo "$workload"
    grep '|' "$rows.text"
    sed -n 's/.*titanv  *\([a-z]*\)  *|.* \([0-9.]*\)$/\1 \2/p' "$rows.text" >>"$rows"
done
grep "# parallel" "$rows.text"
awk '{ sum[$1] += log($2); n[$1]++ }
     END { printf "geometric mean: native 1, gpudet %.2f, dab %.2f\n", exp(sum["gpudet"] / n["gpudet"]), exp(sum["dab"] / n["dab"]) }' "$rows"
rm -f "$rows" "$rows.text"

echo
echo "build/demo/report.html shows a run over time: open it in a browser"
