#!/usr/bin/python3
"""Prints openapi.yaml as compact JSON, for the build to compile in. usage: to_json.py FILE"""
import datetime
import json
import sys

import yaml


def plain(value):
    """YAML reads unquoted dates as dates; JSON has only text."""
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in an API description")


def main():
    with open(sys.argv[1], encoding="utf-8") as source:
        document = yaml.safe_load(source)
    json.dump(document, sys.stdout, ensure_ascii=False, separators=(",", ":"), default=plain)
    sys.stdout.write("\n")


main()
