# Completion of heddle's commands and options for bash.
# Made by 'make man' from the tables of the commands (cli/, session/settings.def).
_heddle_gpus="a100 b200 c2050 gtx1080 gtx480 gtx480_thesis gtx680 gv100 h100 h200 k40 p100 quadrofx5800 rtx2060 rtx2080ti rtx3070 rtx4090 titanv titanx v100"
_heddle_orders="native random gpudet dab"
_heddle_workloads="aes aes_columns append bank barnes_hut betweenness bfs_fixed bfs_parent bfs_racy bfs_sparse blur_texture centrality cloth cloth_opt conv_filter conv_gradient coulomb euler hash_chain hash_probe histogram_global histogram_shared hotspot index_add libor litmus_block litmus_grid mandelbrot nbody order_exchange order_mixed pagerank pathfinder racey_global racey_lanes racey_shared racey_warps reduce_atomic reduce_shared reduce_shuffle saxpy scan_blocks scan_lookback scatter_last segment_sum sgemm_16 sgemm_32 sgemm_naive spmv_scalar spmv_vector srad stencil_2d stencil_3d stencil_flags sum_atomic sum_lock sum_lock_backoff sum_lock_test sum_tree ticket transpose_naive transpose_padded transpose_tiled"
_heddle_words() # [the first word of a command]
{
    case $1 in
    '') echo "run check estimate compare report advise communication sweep reproduce trace suite ptx bench isa orders area gpus measure calibrate";;
    sweep) echo "query report";;
    trace) echo "record info check dump convert";;
    suite) echo "list run";;
    ptx) echo "check print stats cfg";;
    esac
}
_heddle_options() # COMMAND
{
    case $1 in
    'run') echo "--gpu --memory --threads --order --seed --divergence --speculate --on-fault --check --suppress --max-instructions --timeout --files --files-bytes --require-supported --format --quiet --counts --profile --fidelity --locks --watch --record --replay --memory-map --distribute --partitions --topology --hop-cycles --kernel --grid --block --cluster --shared --cooperative --arg --expect --tolerance --dump --data-seed --graph --table --seeds --exhaustive --help";;
    'check') echo "--order --runs --chance --confidence --seed --check --stop --jobs --run-timeout --float --ignore-output --exhaustive --search-time --color --recordings --no-race --no-init --race-runs --quiet --format --junit --gpu --memory --divergence --speculate --on-fault --suppress --max-instructions --timeout --files --files-bytes --require-supported --fidelity --kernel --grid --block --cluster --shared --cooperative --arg --expect --tolerance --data-seed --graph --help";;
    'estimate') echo "--gpu --order --format --color --coefficients --from --fidelity --traces --memory --threads --seed --divergence --speculate --on-fault --check --suppress --max-instructions --timeout --files --files-bytes --require-supported --quiet --counts --profile --locks --watch --record --replay --memory-map --distribute --partitions --topology --hop-cycles --kernel --grid --block --cluster --shared --cooperative --arg --expect --tolerance --dump --data-seed --graph --table --seeds --exhaustive --help";;
    'compare') echo "--gpu --order --format --coefficients --color --memory --threads --seed --divergence --speculate --on-fault --check --suppress --max-instructions --timeout --files --files-bytes --require-supported --quiet --counts --profile --fidelity --locks --watch --record --replay --memory-map --distribute --partitions --topology --hop-cycles --kernel --grid --block --cluster --shared --cooperative --arg --expect --tolerance --dump --data-seed --graph --table --seeds --exhaustive --help";;
    'report') echo "--output --gpu --order --from --interval --all-sms --races --verdict --communication --json --csv --svg --perfetto --chrome-trace --aerialvision --konata --memory --threads --seed --divergence --speculate --on-fault --check --suppress --max-instructions --timeout --files --files-bytes --require-supported --format --quiet --counts --profile --fidelity --locks --watch --record --replay --memory-map --distribute --partitions --topology --hop-cycles --kernel --grid --block --cluster --shared --cooperative --arg --expect --tolerance --dump --data-seed --graph --table --seeds --exhaustive --help";;
    'advise') echo "--gpu --from --format --memory --threads --order --seed --divergence --speculate --on-fault --check --suppress --max-instructions --timeout --files --files-bytes --require-supported --quiet --counts --profile --fidelity --locks --watch --record --replay --memory-map --distribute --partitions --topology --hop-cycles --kernel --grid --block --cluster --shared --cooperative --arg --expect --tolerance --dump --data-seed --graph --table --seeds --exhaustive --help";;
    'communication') echo "--granularity --format --graph --matrix --partition --by --from --link-bandwidth --gpu --memory --threads --order --seed --divergence --speculate --on-fault --check --suppress --max-instructions --timeout --files --files-bytes --require-supported --quiet --counts --profile --fidelity --locks --watch --record --replay --memory-map --distribute --partitions --topology --hop-cycles --kernel --grid --block --cluster --shared --cooperative --arg --expect --tolerance --dump --data-seed --table --seeds --exhaustive --help";;
    'sweep') echo "--output --plan --order --seeds --gpu --measure --jobs --dry-run --probe --check --retry-failed --only-stale --mix --merge --cache --junit --no-programs --quiet --help";;
    'sweep query') echo "--help";;
    'sweep report') echo "--rows --columns --value --baseline --slower --format --chart --help";;
    'reproduce') echo "--output --quick --jobs --list --items --recorded --quiet --help";;
    'trace record') echo "--output --format --addresses --launch --cta --space --gpu --order --memory --threads --seed --divergence --speculate --on-fault --check --suppress --max-instructions --timeout --files --files-bytes --require-supported --quiet --counts --profile --fidelity --locks --watch --record --replay --memory-map --distribute --partitions --topology --hop-cycles --kernel --grid --block --cluster --shared --cooperative --arg --expect --tolerance --dump --data-seed --graph --table --seeds --exhaustive --help";;
    'trace info') echo "--help";;
    'trace check') echo "--help";;
    'trace dump') echo "--launch --cta --warp --help";;
    'trace convert') echo "--output --format --launch --cta --space --help";;
    'suite list') echo "--help";;
    'suite run') echo "--size --data-seed --order --seed --graph --help";;
    'ptx check') echo "--format --max-errors --link --simt-deadlock --quiet --help";;
    'ptx print') echo "--verify --help";;
    'ptx stats') echo "--format --help";;
    'ptx cfg') echo "--kernel --brief --help";;
    'bench') echo "--threads --mode --beside --format --json --help";;
    'isa') echo "--format --refused --inexact --support --help";;
    'orders') echo "--format --help";;
    'area') echo "--gpu --format --help";;
    'gpus') echo "--help";;
    'measure') echo "--size --repeat --data-seed --graph --output --driver --help";;
    'calibrate') echo "--gpu --output --traces --start --where --plot --csv --predict --residuals --coverage --allow-undetermined --help";;
    esac
}
_heddle_values() # COMMAND --OPTION
{
    case "$1 $2" in
    'run --gpu') echo "$_heddle_gpus";;
    'run --memory') echo "";;
    'run --threads') echo "";;
    'run --order') echo "$_heddle_orders";;
    'run --seed') echo "";;
    'run --divergence') echo "auto stack its";;
    'run --speculate') echo "on off";;
    'run --on-fault') echo "stop continue";;
    'run --check') echo "memory init sync bounds race atomicity api all";;
    'run --suppress') echo "FILE";;
    'run --max-instructions') echo "";;
    'run --timeout') echo "";;
    'run --files') echo "";;
    'run --files-bytes') echo "";;
    'run --format') echo "text json";;
    'run --counts') echo "FILE";;
    'run --watch') echo "";;
    'run --record') echo "FILE";;
    'run --replay') echo "FILE";;
    'run --memory-map') echo "";;
    'run --distribute') echo "";;
    'run --partitions') echo "";;
    'run --topology') echo "crossbar mesh htree";;
    'run --hop-cycles') echo "";;
    'run --kernel') echo "";;
    'run --grid') echo "";;
    'run --block') echo "";;
    'run --cluster') echo "";;
    'run --shared') echo "";;
    'run --arg') echo "";;
    'run --expect') echo "";;
    'run --tolerance') echo "";;
    'run --dump') echo "FILE";;
    'run --data-seed') echo "";;
    'run --graph') echo "FILE";;
    'run --seeds') echo "";;
    'check --order') echo "$_heddle_orders";;
    'check --runs') echo "";;
    'check --chance') echo "";;
    'check --confidence') echo "";;
    'check --seed') echo "";;
    'check --check') echo "memory init sync bounds race atomicity api all";;
    'check --stop') echo "many different never";;
    'check --jobs') echo "";;
    'check --run-timeout') echo "";;
    'check --float') echo "";;
    'check --ignore-output') echo "";;
    'check --search-time') echo "";;
    'check --color') echo "auto always never";;
    'check --recordings') echo "";;
    'check --race-runs') echo "";;
    'check --format') echo "text json github";;
    'check --junit') echo "FILE";;
    'check --gpu') echo "$_heddle_gpus";;
    'check --memory') echo "";;
    'check --divergence') echo "auto stack its";;
    'check --speculate') echo "on off";;
    'check --on-fault') echo "stop continue";;
    'check --suppress') echo "FILE";;
    'check --max-instructions') echo "";;
    'check --timeout') echo "";;
    'check --files') echo "";;
    'check --files-bytes') echo "";;
    'check --kernel') echo "";;
    'check --grid') echo "";;
    'check --block') echo "";;
    'check --cluster') echo "";;
    'check --shared') echo "";;
    'check --arg') echo "";;
    'check --expect') echo "";;
    'check --tolerance') echo "";;
    'check --data-seed') echo "";;
    'check --graph') echo "FILE";;
    'estimate --gpu') echo "$_heddle_gpus";;
    'estimate --order') echo "$_heddle_orders";;
    'estimate --format') echo "table json csv";;
    'estimate --color') echo "auto always never";;
    'estimate --coefficients') echo "FILE";;
    'estimate --from') echo "FILE";;
    'estimate --traces') echo "FILE";;
    'estimate --memory') echo "";;
    'estimate --threads') echo "";;
    'estimate --seed') echo "";;
    'estimate --divergence') echo "auto stack its";;
    'estimate --speculate') echo "on off";;
    'estimate --on-fault') echo "stop continue";;
    'estimate --check') echo "memory init sync bounds race atomicity api all";;
    'estimate --suppress') echo "FILE";;
    'estimate --max-instructions') echo "";;
    'estimate --timeout') echo "";;
    'estimate --files') echo "";;
    'estimate --files-bytes') echo "";;
    'estimate --counts') echo "FILE";;
    'estimate --watch') echo "";;
    'estimate --record') echo "FILE";;
    'estimate --replay') echo "FILE";;
    'estimate --memory-map') echo "";;
    'estimate --distribute') echo "";;
    'estimate --partitions') echo "";;
    'estimate --topology') echo "crossbar mesh htree";;
    'estimate --hop-cycles') echo "";;
    'estimate --kernel') echo "";;
    'estimate --grid') echo "";;
    'estimate --block') echo "";;
    'estimate --cluster') echo "";;
    'estimate --shared') echo "";;
    'estimate --arg') echo "";;
    'estimate --expect') echo "";;
    'estimate --tolerance') echo "";;
    'estimate --dump') echo "FILE";;
    'estimate --data-seed') echo "";;
    'estimate --graph') echo "FILE";;
    'estimate --seeds') echo "";;
    'compare --gpu') echo "$_heddle_gpus";;
    'compare --order') echo "$_heddle_orders";;
    'compare --format') echo "table json csv";;
    'compare --coefficients') echo "FILE";;
    'compare --color') echo "auto always never";;
    'compare --memory') echo "";;
    'compare --threads') echo "";;
    'compare --seed') echo "";;
    'compare --divergence') echo "auto stack its";;
    'compare --speculate') echo "on off";;
    'compare --on-fault') echo "stop continue";;
    'compare --check') echo "memory init sync bounds race atomicity api all";;
    'compare --suppress') echo "FILE";;
    'compare --max-instructions') echo "";;
    'compare --timeout') echo "";;
    'compare --files') echo "";;
    'compare --files-bytes') echo "";;
    'compare --counts') echo "FILE";;
    'compare --watch') echo "";;
    'compare --record') echo "FILE";;
    'compare --replay') echo "FILE";;
    'compare --memory-map') echo "";;
    'compare --distribute') echo "";;
    'compare --partitions') echo "";;
    'compare --topology') echo "crossbar mesh htree";;
    'compare --hop-cycles') echo "";;
    'compare --kernel') echo "";;
    'compare --grid') echo "";;
    'compare --block') echo "";;
    'compare --cluster') echo "";;
    'compare --shared') echo "";;
    'compare --arg') echo "";;
    'compare --expect') echo "";;
    'compare --tolerance') echo "";;
    'compare --dump') echo "FILE";;
    'compare --data-seed') echo "";;
    'compare --graph') echo "FILE";;
    'compare --seeds') echo "";;
    'report --output') echo "FILE";;
    'report --gpu') echo "$_heddle_gpus";;
    'report --order') echo "$_heddle_orders";;
    'report --from') echo "FILE";;
    'report --interval') echo "";;
    'report --json') echo "FILE";;
    'report --csv') echo "FILE";;
    'report --svg') echo "FILE";;
    'report --perfetto') echo "FILE";;
    'report --chrome-trace') echo "FILE";;
    'report --aerialvision') echo "FILE";;
    'report --konata') echo "FILE";;
    'report --memory') echo "";;
    'report --threads') echo "";;
    'report --seed') echo "";;
    'report --divergence') echo "auto stack its";;
    'report --speculate') echo "on off";;
    'report --on-fault') echo "stop continue";;
    'report --check') echo "memory init sync bounds race atomicity api all";;
    'report --suppress') echo "FILE";;
    'report --max-instructions') echo "";;
    'report --timeout') echo "";;
    'report --files') echo "";;
    'report --files-bytes') echo "";;
    'report --format') echo "text json";;
    'report --counts') echo "FILE";;
    'report --watch') echo "";;
    'report --record') echo "FILE";;
    'report --replay') echo "FILE";;
    'report --memory-map') echo "";;
    'report --distribute') echo "";;
    'report --partitions') echo "";;
    'report --topology') echo "crossbar mesh htree";;
    'report --hop-cycles') echo "";;
    'report --kernel') echo "";;
    'report --grid') echo "";;
    'report --block') echo "";;
    'report --cluster') echo "";;
    'report --shared') echo "";;
    'report --arg') echo "";;
    'report --expect') echo "";;
    'report --tolerance') echo "";;
    'report --dump') echo "FILE";;
    'report --data-seed') echo "";;
    'report --graph') echo "FILE";;
    'report --seeds') echo "";;
    'advise --gpu') echo "$_heddle_gpus";;
    'advise --from') echo "FILE";;
    'advise --format') echo "table json";;
    'advise --memory') echo "";;
    'advise --threads') echo "";;
    'advise --order') echo "$_heddle_orders";;
    'advise --seed') echo "";;
    'advise --divergence') echo "auto stack its";;
    'advise --speculate') echo "on off";;
    'advise --on-fault') echo "stop continue";;
    'advise --check') echo "memory init sync bounds race atomicity api all";;
    'advise --suppress') echo "FILE";;
    'advise --max-instructions') echo "";;
    'advise --timeout') echo "";;
    'advise --files') echo "";;
    'advise --files-bytes') echo "";;
    'advise --counts') echo "FILE";;
    'advise --watch') echo "";;
    'advise --record') echo "FILE";;
    'advise --replay') echo "FILE";;
    'advise --memory-map') echo "";;
    'advise --distribute') echo "";;
    'advise --partitions') echo "";;
    'advise --topology') echo "crossbar mesh htree";;
    'advise --hop-cycles') echo "";;
    'advise --kernel') echo "";;
    'advise --grid') echo "";;
    'advise --block') echo "";;
    'advise --cluster') echo "";;
    'advise --shared') echo "";;
    'advise --arg') echo "";;
    'advise --expect') echo "";;
    'advise --tolerance') echo "";;
    'advise --dump') echo "FILE";;
    'advise --data-seed') echo "";;
    'advise --graph') echo "FILE";;
    'advise --seeds') echo "";;
    'communication --granularity') echo "thread warp cta kernel";;
    'communication --format') echo "table json csv";;
    'communication --graph') echo "FILE";;
    'communication --matrix') echo "FILE";;
    'communication --partition') echo "";;
    'communication --by') echo "linear x y z metis";;
    'communication --from') echo "FILE";;
    'communication --link-bandwidth') echo "";;
    'communication --gpu') echo "$_heddle_gpus";;
    'communication --memory') echo "";;
    'communication --threads') echo "";;
    'communication --order') echo "$_heddle_orders";;
    'communication --seed') echo "";;
    'communication --divergence') echo "auto stack its";;
    'communication --speculate') echo "on off";;
    'communication --on-fault') echo "stop continue";;
    'communication --check') echo "memory init sync bounds race atomicity api all";;
    'communication --suppress') echo "FILE";;
    'communication --max-instructions') echo "";;
    'communication --timeout') echo "";;
    'communication --files') echo "";;
    'communication --files-bytes') echo "";;
    'communication --counts') echo "FILE";;
    'communication --watch') echo "";;
    'communication --record') echo "FILE";;
    'communication --replay') echo "FILE";;
    'communication --memory-map') echo "";;
    'communication --distribute') echo "";;
    'communication --partitions') echo "";;
    'communication --topology') echo "crossbar mesh htree";;
    'communication --hop-cycles') echo "";;
    'communication --kernel') echo "";;
    'communication --grid') echo "";;
    'communication --block') echo "";;
    'communication --cluster') echo "";;
    'communication --shared') echo "";;
    'communication --arg') echo "";;
    'communication --expect') echo "";;
    'communication --tolerance') echo "";;
    'communication --dump') echo "FILE";;
    'communication --data-seed') echo "";;
    'communication --seeds') echo "";;
    'sweep --output') echo "";;
    'sweep --plan') echo "";;
    'sweep --order') echo "$_heddle_orders";;
    'sweep --seeds') echo "";;
    'sweep --gpu') echo "$_heddle_gpus";;
    'sweep --measure') echo "digest estimate races";;
    'sweep --jobs') echo "";;
    'sweep --merge') echo "";;
    'sweep --cache') echo "";;
    'sweep --junit') echo "FILE";;
    'sweep report --rows') echo "";;
    'sweep report --columns') echo "";;
    'sweep report --value') echo "";;
    'sweep report --baseline') echo "";;
    'sweep report --slower') echo "";;
    'sweep report --format') echo "text csv html svg";;
    'sweep report --chart') echo "map bars";;
    'reproduce --output') echo "";;
    'reproduce --jobs') echo "";;
    'reproduce --items') echo "FILE";;
    'reproduce --recorded') echo "FILE";;
    'trace record --output') echo "FILE";;
    'trace record --format') echo "";;
    'trace record --launch') echo "";;
    'trace record --cta') echo "";;
    'trace record --space') echo "global shared local";;
    'trace record --gpu') echo "$_heddle_gpus";;
    'trace record --order') echo "$_heddle_orders";;
    'trace record --memory') echo "";;
    'trace record --threads') echo "";;
    'trace record --seed') echo "";;
    'trace record --divergence') echo "auto stack its";;
    'trace record --speculate') echo "on off";;
    'trace record --on-fault') echo "stop continue";;
    'trace record --check') echo "memory init sync bounds race atomicity api all";;
    'trace record --suppress') echo "FILE";;
    'trace record --max-instructions') echo "";;
    'trace record --timeout') echo "";;
    'trace record --files') echo "";;
    'trace record --files-bytes') echo "";;
    'trace record --counts') echo "FILE";;
    'trace record --watch') echo "";;
    'trace record --record') echo "FILE";;
    'trace record --replay') echo "FILE";;
    'trace record --memory-map') echo "";;
    'trace record --distribute') echo "";;
    'trace record --partitions') echo "";;
    'trace record --topology') echo "crossbar mesh htree";;
    'trace record --hop-cycles') echo "";;
    'trace record --kernel') echo "";;
    'trace record --grid') echo "";;
    'trace record --block') echo "";;
    'trace record --cluster') echo "";;
    'trace record --shared') echo "";;
    'trace record --arg') echo "";;
    'trace record --expect') echo "";;
    'trace record --tolerance') echo "";;
    'trace record --dump') echo "FILE";;
    'trace record --data-seed') echo "";;
    'trace record --graph') echo "FILE";;
    'trace record --seeds') echo "";;
    'trace dump --launch') echo "";;
    'trace dump --cta') echo "";;
    'trace dump --warp') echo "";;
    'trace convert --output') echo "FILE";;
    'trace convert --format') echo "";;
    'trace convert --launch') echo "";;
    'trace convert --cta') echo "";;
    'trace convert --space') echo "global shared local";;
    'suite run --size') echo "small medium large";;
    'suite run --data-seed') echo "";;
    'suite run --order') echo "$_heddle_orders";;
    'suite run --seed') echo "";;
    'suite run --graph') echo "FILE";;
    'ptx check --format') echo "text json";;
    'ptx check --max-errors') echo "";;
    'ptx stats --format') echo "text json";;
    'ptx cfg --kernel') echo "";;
    'bench --threads') echo "";;
    'bench --mode') echo "plain counts caches random gpudet dab race";;
    'bench --beside') echo "FILE";;
    'bench --format') echo "text csv json";;
    'isa --format') echo "text json";;
    'orders --format') echo "text json";;
    'area --gpu') echo "$_heddle_gpus";;
    'area --format') echo "text json";;
    'measure --size') echo "small medium large";;
    'measure --repeat') echo "";;
    'measure --data-seed') echo "";;
    'measure --graph') echo "FILE";;
    'measure --output') echo "FILE";;
    'measure --driver') echo "FILE";;
    'calibrate --gpu') echo "$_heddle_gpus";;
    'calibrate --output') echo "FILE";;
    'calibrate --traces') echo "FILE";;
    'calibrate --start') echo "FILE";;
    'calibrate --where') echo "";;
    'calibrate --plot') echo "FILE";;
    'calibrate --csv') echo "FILE";;
    'calibrate --residuals') echo "FILE";;
    *) return 1;;
    esac
}
_heddle()
{
    local -a typed=("${COMP_WORDS[@]}")
    local at=$COMP_CWORD help= words
    if [ "${typed[1]}" = help ] && [ "$at" -gt 1 ]; then
        typed=("${typed[@]:1}") at=$((at - 1)) help=1
    fi
    local cur=${typed[at]} prev=${typed[at-1]} command=${typed[1]}
    COMPREPLY=()
    if [ "$at" -eq 1 ]; then
        words=$(_heddle_words)
        [ "$help" ] || words="$words help --help --version"
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        return
    fi
    words=$(_heddle_words "$command")
    if [ "$words" ]; then
        if [ "$at" -eq 2 ]; then
            COMPREPLY=($(compgen -W "$words" -- "$cur"))
            return
        fi
        command="$command ${typed[2]}"
    fi
    [ "$help" ] && return
    [ "$cur" = = ] && cur= || { [ "$prev" = = ] && prev=${typed[at-2]}; }
    if [ "$cur" = : ] && [ "$prev" = suite ]; then cur= prev=:; fi
    if [ "$prev" = : ] && [[ " ${typed[*]} " == *' suite :'* ]]; then
        COMPREPLY=($(compgen -W "$_heddle_workloads" -- "$cur"))
        return
    fi
    case $prev in
    --*)
        words=$(_heddle_values "$command" "$prev") && {
            [ "$words" = FILE ] && COMPREPLY=($(compgen -f -- "$cur")) ||
                COMPREPLY=($(compgen -W "$words" -- "$cur"))
            return
        };;
    esac
    case $cur in
    -*) COMPREPLY=($(compgen -W "$(_heddle_options "$command")" -- "$cur"));;
    *)
        case $command in
        'suite run' | measure) COMPREPLY=($(compgen -W "$_heddle_workloads" -- "$cur"));;
        orders) COMPREPLY=($(compgen -W "$_heddle_orders" -- "$cur"));;
        gpus) COMPREPLY=($(compgen -W "$_heddle_gpus" -- "$cur") $(compgen -f -- "$cur"));;
        *) COMPREPLY=($(compgen -f -- "$cur"));;
        esac;;
    esac
}
complete -o filenames -F _heddle heddle
