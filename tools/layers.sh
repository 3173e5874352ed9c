#!/bin/sh
# Arrows between folders point one way: base <- ptx <- (heddle.c) <- cli. Fails on an include against
# them, and on a third-party header outside the one file that wraps it.
set -u
fail=0
ban() { # FILES PATTERN WHY
    if git grep -nE "$2" -- $1; then
        echo "layers: $3" >&2
        fail=1
    fi
}
ban 'base/*' '#include "(ptx|cli|heddle|emu|determinism|model|cuda|suites|calibrate)' 'base stands on nothing'
ban 'emu/*.c emu/*.h' '#include "(cli|heddle|determinism|model|cuda|suites|calibrate)' 'emu stands on ptx'
ban 'model/*.c model/*.h' '#include "(cli|heddle|determinism|cuda|suites|calibrate)' 'model stands on emu'
ban 'calibrate/*.c calibrate/*.h' '#include "(cli|heddle|determinism|cuda|suites)' 'calibrate stands on model'
ban 'determinism/*' '#include "(cli|heddle|model|cuda|suites|calibrate)' 'determinism stands on emu'
ban 'model/*' '#include "(cli|heddle|determinism|cuda|suites|calibrate)' 'model stands on emu'
ban 'cuda/*.c cuda/*.h' '#include "(cli|heddle|suites|calibrate)' 'cuda stands on emu'
ban 'suites/*.c suites/*.h' '#include "(base|ptx|emu|cli|heddle)' 'suites are programs on the driver API'
ban 'ptx/*.c ptx/*.h' '#include "(cli|heddle|emu|determinism|model|cuda|suites|calibrate)' 'ptx stands on base'
ban 'cli/*' '#include "ptx/' 'the command line uses heddle.h'
ban 'base/* heddle*.[ch] emu/* cuda/* suites/* ptx/* cli/[a-xz]* cli/y[b-z]*' 'libfyaml' 'libfyaml stays in cli/yaml.c'
ban 'base/* heddle*.[ch] cli/* emu/* cuda/* suites/* ptx/[a-km-z]*' 'pcre2' 'PCRE2 stays in ptx/lex.c'
ban 'cli/* determinism/* model/* suites/* calibrate/[a-eg-z]* calibrate/figures*' 'gsl_' 'GSL stays in calibrate/fit.c'
ban 'base/* heddle*.[ch] ptx/* emu/* cuda/*' '(jansson|gsl_|zlib)' 'jansson and GSL stay out of the library'
ban 'base/* heddle*.[ch] ptx/* emu/* determinism/* suites/* cli/* cuda/[a-eg-z]*' '(lz4|zstd)\.h' 'decompression stays in cuda/fatbin.c'
exit $fail
