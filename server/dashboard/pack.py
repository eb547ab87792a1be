#!/usr/bin/python3
"""Writes an assembler file that holds the page: each asset as it is and gzipped, in a table sorted by
path. usage: pack.py FOLDER LIBRARY_FILE...   The library's files lie below /page/lib/, FOLDER/index.html
is `/`, every other file of FOLDER lies below /page/."""
import gzip
import hashlib
import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


def assets(folder, library):
    """(path in the address, file) of everything that is served."""
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = file.relative_to(folder).as_posix()
        yield "/" if name == "index.html" else f"/page/{name}", file
    for file in library:
        yield f"/page/lib/{file.name}", file


def blob(label, content):
    print(f".L{label}:")
    for start in range(0, len(content), 32):
        print("    .byte " + ",".join(str(byte) for byte in content[start:start + 32]))


def text(label, value):
    print(f'.L{label}: .asciz "{value}"')


def main(folder, library):
    rows = []
    print("    .section .rodata")
    for i, (path, file) in enumerate(sorted(assets(folder, library))):
        content = file.read_bytes()
        packed = gzip.compress(content, 9, mtime=0)
        tag = hashlib.sha256(content).hexdigest()[:32]
        text(f"path{i}", path)
        text(f"type{i}", TYPES[file.suffix])
        text(f"tag{i}", f'\\"{tag}\\"')
        text(f"ptag{i}", f'\\"{tag}-gzip\\"')
        blob(f"plain{i}", content)
        blob(f"packed{i}", packed)
        rows.append(f"    .quad .Lpath{i}, .Ltype{i}, .Lplain{i}, {len(content)}, .Ltag{i}, "
                    f".Lpacked{i}, {len(packed)}, .Lptag{i}")
    print('    .section .data.rel.ro,"aw"\n    .balign 8')
    print("    .globl dashboard_assets, dashboard_asset_count\ndashboard_assets:")
    print("\n".join(rows))
    print(f"dashboard_asset_count: .quad {len(rows)}")
    print('    .section .note.GNU-stack,"",@progbits')


main(pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]])
