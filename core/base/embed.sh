#!/bin/sh
# Writes an assembler file that holds the given files and a table {name, bytes, size} ending in a
# zero row. usage: embed.sh SYMBOL FILE...   The name kept is the file's last path component.
set -eu
symbol=$1
shift
echo '    .section .rodata'
i=0
for f in "$@"; do
    printf '.Lname%d: .asciz "%s"\n    .balign 16\n.Ldata%d: .incbin "%s"\n.Lend%d: .byte 0\n' \
        "$i" "${f##*/}" "$i" "$f" "$i"
    i=$((i + 1))
done
printf '    .section .data.rel.ro,"aw"\n    .balign 8\n    .globl %s\n%s:\n' "$symbol" "$symbol"
n=0
while [ "$n" -lt "$i" ]; do
    printf '    .quad .Lname%d, .Ldata%d, .Lend%d - .Ldata%d\n' "$n" "$n" "$n" "$n"
    n=$((n + 1))
done
echo '    .quad 0, 0, 0'
echo '    .section .note.GNU-stack,"",@progbits'
