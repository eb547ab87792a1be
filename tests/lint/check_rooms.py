#!/usr/bin/python3
"""Proves the directions of tests/lint/rooms.txt over every C file, and that each room has a README
and each header stands in an include guard. Prints one line a violation; exit 1 if there is any."""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_rooms(path):
    level, of, only = {}, {}, {}
    for line in open(path, encoding="utf-8"):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "of":
            of[words[1]] = set(words[2:])
        elif words[0] == "only":
            only[words[1]] = re.compile("^" + words[2])
        else:
            level[words[0]] = int(words[1])
    return level, of, only


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def check_include(path, kind, name, tables):
    level, of, only = tables
    if kind == "<":
        if name in only and not only[name].match(path) and not path.startswith("tests/"):
            return f"<{name}> is allowed only in {only[name].pattern[1:]}"
        return None
    mine, theirs = room_of(path), room_of(name)
    if path.startswith("tests/") or path == "server/main.c":
        return None
    if name.endswith("_internal.h") and mine != theirs:
        return f"{name} is private to {theirs}"
    if theirs == mine:
        return None
    if mine not in level or theirs not in level:
        return f"room of {name} or of this file is not in rooms.txt"
    if mine.startswith("core/"):
        if theirs.startswith("server/"):
            return "core must not include server"
    elif theirs.startswith("core/"):
        allowed = of.get(mine, set())
        return None if "*" in allowed or theirs in allowed else f"{mine} may not include {theirs}"
    if level[theirs] >= level[mine]:
        return f"{mine} (level {level[mine]}) must not include {theirs} (level {level[theirs]})"
    return None


def check_file(path, tables):
    text = open(os.path.join(ROOT, path), encoding="utf-8").read()
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        message = match and check_include(path, match.group(1), match.group(2), tables)
        if message:
            yield f"{path}:{number}: {message}"
    if not text.startswith("/* SPDX-License-Identifier: MIT\n"):
        yield f"{path}:1: the first line must be the SPDX line"
    generic = path.endswith("_internal.h") or path.endswith("_simd.h")
    if path.endswith(".h") and "#ifndef" not in text and not generic:
        yield f"{path}:1: no include guard"


def main():
    tables = read_rooms(os.path.join(ROOT, "tests/lint/rooms.txt"))
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], cwd=ROOT,
                           check=True, capture_output=True, text=True).stdout.split()
    found = [message for path in files if os.path.exists(os.path.join(ROOT, path))
             for message in check_file(path, tables)]
    rooms = sorted({room_of(p) for p in files if p.startswith(("core/", "server/")) and p.count("/") > 1})
    for room in rooms:
        if room not in tables[0]:
            found.append(f"{room}: unknown room")
        if not os.path.exists(os.path.join(ROOT, room, "README.md")):
            found.append(f"{room}: no README.md")
    print("\n".join(found) if found else f"rooms: {len(files)} files, {len(rooms)} rooms hold")
    return 1 if found else 0


sys.exit(main())
