#!/bin/sh
# Runs each cmocka binary, goes on after a failure, sums up, fails if any failed or none ran.
pass=0 fail=0
for t in "$@"; do
    out=$("$t" 2>&1)
    rc=$?
    p=$(printf '%s\n' "$out" | sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1/p' | awk '{n+=$1} END {print n+0}')
    f=$(printf '%s\n' "$out" | sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s).*/\1/p' | awk '{n+=$1} END {print n+0}')
    if [ "$rc" -ne 0 ] || [ "${f:-0}" -ne 0 ]; then
        printf '%s\n' "$out"
        [ "${f:-0}" -eq 0 ] && echo "$t: exit $rc" && f=1
    fi
    pass=$((pass + ${p:-0})) fail=$((fail + ${f:-0}))
    echo "$t: ${p:-0} passed, ${f:-0} failed"
done
echo "$pass passed, $fail failed"
[ "$fail" -eq 0 ] && [ "$pass" -gt 0 ]
