#!/bin/bash
# Every lint, each counted as one check; goes on after a failure. Closes with "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0 failures=
check() { # name command...
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        printf 'FAILED  %s\n%s\n' "$name" "$out"
        failures+="FAILED: $name: ${out%%$'\n'*}"$'\n'
    fi
}
c_files=$(git ls-files '*.c' '*.h')
flags=$(make -s print-cppflags)
make -s -j"$(nproc)" all || exit 1

check rooms tests/lint/check_rooms.py
check words tests/lint/check_words.sh
check sizes tests/lint/check_sizes.py
# shellcheck disable=SC2086
check headers tests/lint/check_headers.sh gcc -std=c17 -Wall -Wextra -Werror $flags
# shellcheck disable=SC2086
check format clang-format-14 --dry-run -Werror $c_files
# shellcheck disable=SC2046
check shell shellcheck $(git ls-files '*.sh') .ci/run
check yaml yamllint -d '{extends: relaxed, rules: {line-length: disable, indentation: disable}}' api-spec docker
check drift tests/lint/check_drift.py
check mutants tests/mutants/run.py --apply-only
check cases tests/lint/check_cases.py
check readmes tests/lint/check_readmes.py
check page tests/lint/check_page.py
check tidy make -s -j"$(nproc)" tidy

printf '%s' "$failures" # once more, where the end is all that one sees
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
