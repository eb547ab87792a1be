#!/bin/sh
# Every header compiles on its own. usage: check_headers.sh CC FLAGS...
set -u
cd "$(dirname "$0")/../.." || exit 2
bad=0
for h in $(git ls-files 'core/*.h' 'server/*.h' 'tests/*.h' | grep -v '_simd.h$'); do
    [ -f "$h" ] || continue
    printf '#include "%s"\nint header_check_symbol;\n' "$h" |
        "$@" -fsyntax-only -x c - || { echo "$h does not compile on its own"; bad=1; }
done
exit $bad
