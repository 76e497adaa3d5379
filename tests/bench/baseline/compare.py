#!/usr/bin/env python3
"""Two lists of TS_BITS, baseline_kernels or programs.py: what is the same, and what is not.

Lines are "name: value"; lines that begin with # are remarks. Of kernels that changed, registers, spills and
instructions before and after are shown. Exit status: 0 all the same, 1 not.

usage: compare.py OLD NEW [--most LINES]
"""
import argparse
import sys

COUNTS = ("registers", "spills", "instructions")


def read(path):
    values = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, colon, value = line.rstrip("\n").partition(": ")
            if line.startswith("#") or not colon:
                continue
            if name in values:
                sys.exit(f"{path}: '{name}' stands there twice")
            values[name] = value
    return values


def fields(value):
    """{"registers": "32", ..} of a kernel's line; empty for others."""
    pairs = [word.partition("=") for word in value.split()]
    return {key: what for key, equals, what in pairs if equals} if all(p[1] for p in pairs) else {}


def difference(old, new):
    before, after = fields(old), fields(new)
    if not before or not after:
        return f"{old} -> {new}"
    keys = [key for key in {**before, **after} if key in COUNTS or before.get(key) != after.get(key)]
    return ", ".join(f"{key} {before.get(key, '-')} -> {after.get(key, '-')}" for key in keys)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--most", type=int, default=200, help="lines of each kind that are shown")
    arguments = parser.parse_args()
    old, new = read(arguments.old), read(arguments.new)
    kinds = {
        "changed": [f"{n}: {difference(old[n], new[n])}" for n in old if n in new and old[n] != new[n]],
        "missing": [n for n in old if n not in new],
        "new": [n for n in new if n not in old],
    }
    for kind, lines in kinds.items():
        for line in lines[:arguments.most]:
            print(f"{kind} {line}")
        if len(lines) > arguments.most:
            print(f"{kind} .. and {len(lines) - arguments.most} more")
    same = sum(1 for n in old if new.get(n) == old[n])
    print(f"{same} same, " + ", ".join(f"{len(lines)} {kind}" for kind, lines in kinds.items()))
    return 1 if any(kinds.values()) or same == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
