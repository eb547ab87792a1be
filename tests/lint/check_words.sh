#!/bin/sh
# Unfinished or foreign words in tracked files: markers of unfinished work, paths of a workplace,
# tests that cannot fail. Prints the lines found; exit 1 if there is any.
set -u
cd "$(dirname "$0")/../.." || exit 2
bad=0
look() { # title, extended pattern, pathspecs...
    title=$1 pattern=$2
    shift 2
    rows=$(git grep -nIE "$pattern" -- "$@" ':!tests/lint/check_words.sh')
    [ -n "$rows" ] && { printf '%s\n%s\n' "$title" "$rows"; bad=1; }
}
look 'unfinished:' '\b(TODO|FIXME|XXX|HACK)\b' .
look 'a path of some machine:' '((^|[^>a-z])/work/|/tmp/bash_jobs|/root/|/home/[a-z])' '*.c' '*.h' '*.py' '*.sh' '*.md' Makefile
look 'a test that cannot fail:' '(assert_true\(1\)|assert True$|pytest\.mark\.(skip|xfail)\b)' tests
look 'tabs in C:' "$(printf '\t')" '*.c' '*.h'
exit $bad
