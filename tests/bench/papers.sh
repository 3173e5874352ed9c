#!/bin/sh
# papers.sh HEDDLE [--check]: what GPUDet and DAB take by `heddle compare`, beside what their papers say. The workloads are
# Heddle's own that stand for the papers' (docs/claims.md); a number is within a third of the paper's or it is not, and
# nothing was fitted to them. --check: the same numbers as in papers.txt, which docs/claims.md explains.
set -eu
heddle=$1
here=$(dirname "$0")
rows=$(mktemp)
trap 'rm -f "$rows" "$rows.new"' EXIT

estimate() { # GPU ORDERS WORKLOAD...: rows "workload,gpu,order,,launches,cycles,seconds,time,parallel,..."
    gpu=$1 orders=$2
    shift 2
    for w; do
        "$heddle" compare --threads 1 --format=csv --gpu "$gpu" --order "$orders" "suite:$w" 2>/dev/null |
            grep ',,' | sed "s/^/$w,/" >>"$rows"
    done
}

# Today's GPU, on which locks are fought for, is `random`.
base=gpudet:bta=off:dwp=off bta=gpudet:dwp=off
estimate gtx480 "random,gpudet,$base,$bta,gpudet:commit=locks,gpudet:serial=warp,gpudet:zcache=8192,gpudet:zcache=131072,gpudet:barrier=1000" \
    aes nbody bfs_sparse bfs_parent hotspot stencil_3d hash_chain bank
estimate titanv native,gpudet,dab,dab:coalescing=off,dab:entries=256:scheduler=srr,dab:entries=256:level=warp \
    centrality pagerank conv_gradient

report() {
    awk -F, -v base="$base" -v bta="$bta" '
    { time[$1, $3] = $8; commit[$1, $3] = $12; serial[$1, $3] = $13 }
    function mean(list, order,   n, i, w, sum) { # of times in parts of the baseline
        n = split(list, w, " ")
        for (i = 1; i <= n; i++) sum += time[w[i], order]
        return sum / n
    }
    function geomean(list, over, under,   n, i, w, sum) {
        n = split(list, w, " ")
        for (i = 1; i <= n; i++) sum += log(time[w[i], over] / time[w[i], under])
        return exp(sum / n)
    }
    function say(what, paper, here) {
        printf "%-62s %6.2f %6.2f   %s\n", what, paper, here,
            (here / paper > 4 / 3 || here / paper < 2 / 3 ? "no" : "yes")
    }
    END {
        all = "aes nbody bfs_sparse bfs_parent hotspot stencil_3d hash_chain bank"
        barriers = "aes hotspot stencil_3d"
        search = "bfs_sparse bfs_parent"
        push = "centrality pagerank conv_gradient"
        printf "%-62s %6s %6s   %s\n", "", "paper", "here", "within a third"
        say("GPUDet / NONDET, mean of 8 (thesis 6.1: of 12)", 2.05, mean(all, "gpudet"))
        say("GPUDet / NONDET, bound by computing: aes, nbody", 1.04, mean("aes nbody", "gpudet"))
        say("without BTA / with, all (6.2.1)", 1.04, mean(all, base) / mean(all, bta))
        say("without BTA / with, barriers: aes, hotspot, stencil_3d", 1.20, mean(barriers, base) / mean(barriers, bta))
        say("without DWP / with: bfs_sparse, bfs_parent", 1.19, mean(search, bta) / mean(search, "gpudet"))
        say("locks / Z units, all (6.2.2)", 1.60, mean(all, "gpudet:commit=locks") / mean(all, "gpudet"))
        say("locks / Z units, without the searches", 1.60,
            mean("aes nbody hotspot stencil_3d hash_chain bank", "gpudet:commit=locks") / mean("aes nbody hotspot stencil_3d hash_chain bank", "gpudet"))
        say("locks / Z units, commit mode of hash_chain", 2.30, commit["hash_chain", "gpudet:commit=locks"] / commit["hash_chain", "gpudet"])
        say("W-Ser / CU-Ser, serial mode: hash_chain, bank (6.2.3)", 6.10,
            (serial["hash_chain", "gpudet:serial=warp"] / serial["hash_chain", "gpudet"] + serial["bank", "gpudet:serial=warp"] / serial["bank", "gpudet"]) / 2)
        say("Z cache of 8 KB / 128 KB, all (6.3.3: below)", 1.03, mean(all, "gpudet:zcache=8192") / mean(all, "gpudet:zcache=131072"))
        say("barriers of 1000 cycles / of none, all (6.3.4)", 1.22, mean(all, "gpudet:barrier=1000") / mean(all, "gpudet"))
        say("DAB / native, geometric mean of 3 (VI: of 16)", 1.23, geomean(push, "dab", "native"))
        say("GPUDet / DAB, geometric mean of 3 (VI: 2 to 4)", 4, geomean(push, "gpudet", "dab"))
        say("without coalescing / with: conv_gradient (VI-B3)", 1.13, geomean("conv_gradient", "dab:coalescing=off", "dab"))
        say("SRR / buffers of warps, 256 entries (VI-A1)", 1.04, geomean(push, "dab:entries=256:scheduler=srr", "dab:entries=256:level=warp"))
    }' "$rows"
}

if [ "${2:-}" = --check ]; then
    report >"$rows.new"
    diff "$here/papers.txt" "$rows.new" && echo "papers: the same numbers as papers.txt"
else
    report
fi
