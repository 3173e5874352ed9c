#!/bin/sh
# Text files as C: tools/text-to-c.sh HEADER PREFIX FILE... prints a C file that includes HEADER and defines, for each
# FILE of the name x.SUFFIX, `const char PREFIX_SUFFIX[]` with its text; of a file without a suffix the name in small letters.
set -eu
header=$1
prefix=$2
shift 2
echo "#include \"$header\""
for file; do
    name=$(basename "$file" | tr A-Z a-z)
    echo "const char ${prefix}_${name##*.}[] ="
    sed 's/\\/\\\\/g; s/"/\\"/g; s/?/\\?/g; s/^/    "/; s/$/\\n"/' "$file"
    echo '    "";'
done
