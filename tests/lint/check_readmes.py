#!/usr/bin/python3
"""Every file that a README names in its text exists: beside it, below it, or from the root on."""
import pathlib
import re
import subprocess
import sys

NAMED = re.compile(r"`([A-Za-z0-9_.][A-Za-z0-9_./-]*\.(?:c|h|py|sh|sql|json|txt|md))`")
ROOMS = pathlib.Path("tests/lint/rooms.txt").read_text(encoding="utf-8")
FOREIGN = set(re.findall(r"^only (\S+)", ROOMS, re.M)) | {"migrations/NNNN_name.sql"}


def main():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split()
    known = set(files)
    missing = 0
    for readme in (f for f in files if f.endswith("README.md") or f == "CONTRIBUTING.md"):
        folder = pathlib.PurePath(readme).parent
        below = [f for f in files if folder == pathlib.PurePath(".") or f.startswith(f"{folder}/")]
        for name in NAMED.findall(pathlib.Path(readme).read_text(encoding="utf-8")):
            if name in known or name in FOREIGN or any(f == name or f.endswith("/" + name) for f in below):
                continue
            print(f"{readme}: there is no {name}")
            missing += 1
    print(f"readmes: {missing} names without a file")
    return 1 if missing else 0


sys.exit(main())
