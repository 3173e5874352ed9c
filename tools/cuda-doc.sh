#!/bin/sh
# Writes the table of docs/cuda.md: what of the driver API and of the runtime API is there, by subject. It is made from
# cuda/api.def, the declarations of cuda/runtime, and the two absent.def; --check: compares only.
#
# Versions of a function (_v2) and its variants for other default streams (_ptsz, _ptds) count as one. A function is
# there if one of its versions is.
set -eu
cd "$(dirname "$0")/.."
doc=docs/cuda.md
names() { # API: "there NAME" and "absent NAME", without the prefix cu or cuda
    case $1 in
    driver)
        sed -n 's/^API(\(cu[A-Za-z0-9_]*\),.*/there \1/p' cuda/api.def
        sed -n 's/^ABSENT(\(cu[A-Za-z0-9_]*\))/absent \1/p' cuda/absent.def
        ;;
    runtime)
        grep -ohE '\bcuda[A-Z][A-Za-z0-9_]*\(' cuda/runtime/runtime_api.h cuda/runtime/graph_api.h |
            sed 's/^/there /; s/($//'
        sed -n 's/^ABSENT(\(cuda[A-Za-z0-9_]*\))/absent \1/p' cuda/runtime/absent.def
        ;;
    esac | sed -E "s/ cu(da)?([A-Z])/ $1 \2/; s/_pt[sd][sz]\$//; s/_v[0-9]+\$//" | sort -u
}
table() {
    printf '| Subject | Driver API | Runtime API | Not there |\n|---|---|---|---|\n'
    { names driver; names runtime; } | awk '
        function subject(n) {
            for (s = 1; s <= subjects; s++) if (n ~ pattern[s]) return s
        }
        function add(name, p) { title[++subjects] = name; pattern[subjects] = p }
        BEGIN {
            add("Resources of other APIs (OpenGL, EGL, VDPAU, external memory, semaphores)",
                "^GL|^EGL|^VDPAU|^Graphics|External|EGLSync|NvSci|GPUDirect")
            add("Memory and events of other processes", "^Ipc|^MemExport|^MemImport|^MemGetHandle")
            add("Green contexts and other partitions of a GPU", "^Green|GreenCtx|^Dev[A-Z][a-z]*Resource|DevResource|^DevResource|DevSm")
            add("Multicast, checkpoints, core dumps", "^Multicast|^Checkpoint|^Coredump")
            add("Tensor maps", "^TensorMap")
            add("Graphs and captures", "^Graph|^UserObject|Capture")
            add("Contexts", "^Ctx|PrimaryCtx")
            add("Memory pools", "Pool|^MemAllocAsync|^MallocAsync|FreeAsync")
            add("Virtual memory", "^Mem(Address|Create|Map|Unmap|Release|SetAccess|GetAccess|Retain|GetAllocation)")
            add("Arrays, textures, surfaces", "Array|Mipmap|^Tex|^Surf|Texture|Surface|ChannelDesc|AtoA|AtoD|AtoH|DtoA|HtoA")
            add("Copies and fills", "^Memcpy|^Memset|^Mem[A-Z][a-z]*Batch|^MemBatch|Symbol$")
            add("Memory", "^Mem|^Malloc|^Free|^Host|^Pointer|SymbolAddress|SymbolSize")
            add("Streams", "^Stream")
            add("Events", "^Event")
            add("Modules, libraries, linking, kernels", "^Module|^Library|^Kernel|^Link|^Func|^GetFunc|^GetKernel")
            add("Launches and occupancy", "^Launch|^Occupancy|^Param|^SetDoubleFor|^ConfigureCall|^SetupArgument")
            add("Devices", "Device|^ThreadExchange|^Thread")
            add("Errors, versions, logs, profiler, entry points", "")
        }
        {
            name = $2 " " $3
            if ($1 == "there") there[name] = 1
            all[name] = 1
        }
        END {
            for (name in all) {
                split(name, part, " ")
                s = subject(part[2])
                total[s, part[1]]++
                if (name in there) count[s, part[1]]++
                else missing[s] = missing[s] " " (part[1] == "driver" ? "cu" : "cuda") part[2]
            }
            for (s = 1; s <= subjects; s++) {
                text = ""
                n = split(missing[s], list, " ")
                for (i = 2; i <= n; i++)
                    for (k = i; k > 1 && list[k - 1] > list[k]; k--) { t = list[k]; list[k] = list[k - 1]; list[k - 1] = t }
                for (i = 1; i <= n; i++) text = text (i > 1 ? ", " : "") "`" list[i] "`"
                if (count[s, "driver"] + count[s, "runtime"] == 0) text = "all"
                line = ""
                split("driver runtime", apis, " ")
                for (i = 1; i <= 2; i++)
                    line = line " " (total[s, apis[i]] ? count[s, apis[i]] + 0 " of " total[s, apis[i]] : "-") " |"
                print "| " title[s] " |" line " " text " |"
            }
        }'
}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
skip=
while IFS= read -r line; do
    case $line in
    '<!-- end -->') skip= ;;
    esac
    [ "$skip" ] || printf '%s\n' "$line"
    case $line in
    '<!-- table api -->')
        table
        skip=1
        ;;
    esac
done <"$doc" >"$new"
if [ "${1:-}" = --check ]; then
    diff -u "$doc" "$new" || { echo "$doc is not current: tools/cuda-doc.sh" >&2; exit 1; }
else
    cp "$new" "$doc"
fi
