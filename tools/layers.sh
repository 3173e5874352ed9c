#!/bin/sh
# Includes between folders point one way:
#     base <- ptx <- emu <- determinism, model <- session <- library, cuda <- cli;  model <- calibrate <- cli
# A header in a subfolder is private to the folder above it. Fails on an include against these rules, and on a
# third-party header outside the one file that wraps it.
set -u
fail=0
ban() { # FILES PATTERN WHY [ALLOWED]: ALLOWED matches known exceptions
    found=$(git grep -nE "$2" -- $1 | grep -vE "${4:-^$}")
    if [ "$found" ]; then
        echo "$found"
        echo "layers: $3" >&2
        fail=1
    fi
}
outer='include/heddle.h|heddle\.h|session/|library/|cuda/|suites/|calibrate/|cli/'
ban 'base/*' "#include \"($outer|ptx/|emu/|determinism/|model/)" 'base includes no other folder'
ban 'ptx/*.c ptx/*.h' "#include \"($outer|emu/|determinism/|model/)" 'ptx may include base'
ban 'emu/*.c emu/*.h' "#include \"($outer|determinism/|model/)" 'emu may include ptx and base'
ban 'determinism/*' "#include \"($outer|model/)" 'determinism may include emu and below'
# The hardware of GPUDet and DAB is said once: the orders count with it, the timing model takes time for it. It knows no
# order and no launch.
hardware='^model/timing[a-z_]*\.[ch]:[0-9]+:#include "determinism/hardware/'
ban 'model/*' "#include \"($outer|determinism/)" 'model may include emu and below, and determinism/hardware' "$hardware"
ban 'determinism/hardware/*' "#include \"($outer|ptx/|emu/|model/|determinism/([a-z_]*\.h|gpudet/|dab/|race/|record/))" \
    'determinism/hardware may include base'
ban 'calibrate/*.c calibrate/*.h' '#include "(cli|heddle|session|library|determinism|cuda|suites)' 'calibrate may include model and below'
ban 'session/*' '#include "(heddle|library|cuda|suites|calibrate|cli)' 'session may include determinism, model and below'
ban 'library/*' '#include "(cli|cuda|suites|calibrate)/' 'the library may include session and below'
ban 'cuda/*.c cuda/*.h' '#include "(cli|heddle|library|suites|calibrate)' 'cuda may include session and below'
ban 'suites/*.c suites/*.h' '#include "(base|ptx|emu|session|cli|heddle|library)' 'suites are programs on the driver API'
ban 'cli/*' '#include "ptx/' 'the command line uses heddle.h'

# emu/*.h is what other folders may use of the emulator; likewise determinism/*.h and determinism/record/*.h.
ban 'determinism/* model/* session/* library/* cuda/* calibrate/* suites/* cli/*' '#include "emu/[a-z]+/' \
    'headers below emu/ in subfolders are private'
ban 'emu/* model/* session/* library/* cuda/* calibrate/* suites/* cli/*' '#include "determinism/(gpudet|dab|race|hardware)/' \
    'headers of the orders and of the race detector are private' "$hardware"

ban 'base/* session/* library/* emu/* cuda/* suites/* ptx/* cli/[a-xz]* cli/y[b-z]*' 'libfyaml' 'libfyaml stays in cli/yaml.c'
ban 'base/* session/* library/* cli/* emu/* cuda/* suites/* ptx/[a-km-z]*' 'pcre2' 'PCRE2 stays in ptx/lex.c' '^library/heddle.pc.in'
ban 'cli/* determinism/* model/* session/* suites/* calibrate/[a-eg-z]* calibrate/figures*' 'gsl_' 'GSL stays in calibrate/fit.c'
ban 'base/* session/* library/* ptx/* emu/* cuda/*' '(jansson|gsl_|zlib)' 'jansson and GSL stay out of the library'
ban 'base/* session/* library/* ptx/* emu/* determinism/* model/* suites/* cli/* cuda/[a-eg-z]*' '(lz4|zstd)\.h' \
    'compression stays in cuda/fatbin.c and emu/measure/trace_codec.c' '^emu/measure/trace_codec.c'
ban 'base/* session/* library/* ptx/* emu/* determinism/* model/* suites/* cuda/* cli/[a-rt-z]*' 'sqlite3' 'SQLite stays in cli/sweep_*.c'
ban 'base/* session/* library/* ptx/* emu/* determinism/* model/* suites/* cuda/* calibrate/* cli/*.c cli/*.h' '<mpi\.h>' 'MPI stays in cli/mpi'
exit $fail
