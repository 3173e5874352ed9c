#!/bin/sh
# Text files as C: tools/text-to-c.sh HEADER FILE... prints a C file that includes HEADER and defines, for each
# FILE of the name x.SUFFIX, `const char page_SUFFIX[]` with its text.
set -eu
header=$1
shift
echo "#include \"$header\""
for file; do
    echo "const char page_${file##*.}[] ="
    sed 's/\\/\\\\/g; s/"/\\"/g; s/?/\\?/g; s/^/    "/; s/$/\\n"/' "$file"
    echo '    "";'
done
