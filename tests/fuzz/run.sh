#!/bin/sh
# Replays each target's corpus, then fuzzes it. usage: run.sh SECONDS TARGET...
# New inputs stay under build/fuzz/corpus; a finding is left in build/fuzz and fails the run.
seconds=$1 passed=0 failed=0
shift
for target in "$@"; do
    name=${target##*/}
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus" "tests/fuzz/corpus/$name"
    if "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=0 \
        -artifact_prefix="build/fuzz/$name-" "$corpus" "tests/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name"
        tail -n 30 "build/fuzz/$name.log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
