#!/bin/bash
# Runs each cmocka binary, goes on after a failure, sums up, fails if any failed or none ran. What a
# failed binary said comes at the end, and last of all one line for each failure:
# "FAILED: binary: test: first line of what was wrong".
pass=0 fail=0
said=$(mktemp -d) || exit 2
trap 'rm -rf "$said"' EXIT
failures=$(dirname "$0")/failures.awk

for t in "$@"; do
    out=$("$t" 2>&1)
    rc=$?
    p=$(printf '%s\n' "$out" | sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1/p' | awk '{n+=$1} END {print n+0}')
    f=$(printf '%s\n' "$out" | sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s).*/\1/p' | awk '{n+=$1} END {print n+0}')
    [ "$rc" -ne 0 ] && [ "$f" -eq 0 ] && f=1
    if [ "$f" -ne 0 ]; then
        { echo "--- $t: exit $rc" && printf '%s\n' "$out"; } | tail -n 200 >>"$said/outputs"
        printf '%s\n' "$out" | awk -v binary="$t" -v rc="$rc" -f "$failures" >>"$said/failures"
    fi
    pass=$((pass + p)) fail=$((fail + f))
    echo "$t: $p passed, $f failed"
done
if [ "$fail" -ne 0 ]; then
    cat "$said/outputs" "$said/failures"
fi
echo "$pass passed, $fail failed"
[ "$fail" -eq 0 ] && [ "$pass" -gt 0 ]
