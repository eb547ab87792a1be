#!/usr/bin/python3
"""The contract and the code agree: error slugs and HTTP numbers of server/base/error.h stand in
api-spec/openapi.yaml, the routes of `assayd routes` are its paths, and every option of
`assayd help` is in the README."""
import os
import re
import subprocess
import sys

import yaml

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
METHODS = {"get", "put", "post", "patch", "delete"}


def read(path):
    return open(os.path.join(ROOT, path), encoding="utf-8").read()


def compare(what, code, contract):
    return ([f"{what} {x}: in the code, not in openapi.yaml" for x in sorted(code - contract)] +
            [f"{what} {x}: in openapi.yaml, not in the code" for x in sorted(contract - code)])


def assayd(*args):
    binary = os.environ.get("ASSAYD", os.path.join(ROOT, "build/release/assayd"))
    return subprocess.run([binary, *args], check=True, capture_output=True, text=True).stdout


def main():
    spec = yaml.safe_load(read("api-spec/openapi.yaml"))
    slugs = set(re.findall(r'X\((?!OK)\w+, "(\w+)", \d+', read("server/base/error.h")))
    bad = compare("error code", slugs, set(spec["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]))
    paths = {f"{method.upper()} {path}" for path, item in spec["paths"].items()
             for method in item if method in METHODS}
    routes = {line.strip() for line in assayd("routes").splitlines() if line.strip()}
    bad += compare("route", routes, paths)
    readme = read("README.md")
    bad += [f"option {name}: not in README.md"
            for name in sorted(set(re.findall(r"\bASSAY_[A-Z_]+\b", assayd("help")))) if name not in readme]
    print("\n".join(bad) if bad else f"drift: {len(slugs)} errors, {len(routes)} routes agree")
    return 1 if bad else 0


sys.exit(main())
