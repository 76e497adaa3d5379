#!/usr/bin/env python3
"""Runs of tsdata, tssolve and tskmeans from a fixed list: exit statuses, and hashes of what they print and write.

Prints a line for each: name, what it is of, and a hash. Times are taken out of what is printed.

usage: programs.py BUILD [--only WORD] [--keep FOLDER]
BUILD  a build folder, with the programs in bin/; --only: runs whose name has this word
needs h5py (Debian: python3-h5py)
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import tempfile

import h5py
import numpy as np

# Made first, each by `tsdata gen`: name and arguments.
FILES = [
    ("lap2d", "lap2d --n 25"),
    ("lap3d", "lap3d --n 9 --full"),
    ("copies", "copies --n 50 --copies 6"),
    ("graphene", "graphene --n 12"),
    ("flux", "fluxring --n 300"),
    ("hofstadter", "hofstadter --n 14 --flux 3"),
    ("anderson", "anderson --n 10x10 --seed 4"),
    ("minij", "minij --n 120"),
    ("mikota", "mikota --n 150"),
    ("toeplitz", "toeplitz --n 90 --below 0.9 --diagonal 1 --above 1.1"),
    ("circulant", "circulant --n 150"),
    ("frank", "frank --n 20"),
    ("lauchli", "lauchli --n 200 --mu 1e-3"),
    ("single", "lap2d --n 20 --dtype float32 --compress 3"),
    ("blobs", "blobs --n 6000 --cols 8 --groups 10 --dtype float32"),
    ("long", "blobs --n 60000 --cols 8 --groups 10 --dtype float32"),
    ("blobs64", "blobs --n 2000 --cols 5 --groups 6"),
    ("blobs16", "blobs --n 3000 --cols 16 --groups 12 --dtype float16"),
    ("far", "far --n 3000 --cols 4 --groups 5"),
    ("uniform", "uniform --n 3000 --cols 3 --dtype bfloat16"),
    ("duplicates", "duplicates --n 1000 --cols 3 --groups 6"),
]

SOLVE = ["lap2d.h5 --which " + which for which in ("LA", "SA", "LM", "SM", "BE")] + [
    "lap2d.h5 --which SA --method " + method for method in ("lanczos", "chebyshev", "lobpcg", "davidson", "dense")] + [
    "lap3d.h5 --which LA --method lanczos --precision " + p for p in ("float64", "float32", "mixed")] + [
    "lap2d.h5 --which SA --method lobpcg --preconditioner " + p for p in ("none", "jacobi", "ichol", "chebyshev")] + [
    "lap3d.h5 --sigma 2.5 --which " + which for which in ("SM", "LA", "SA", "BE")] + [
    "toeplitz.h5 --general --which " + which for which in ("LM", "LR", "SR", "LI", "SI", "SM")] + [
    "lap2d.h5 --which LA --conv " + conv for conv in ("norm", "rel", "abs")] + [
    "copies.h5 --which SA -k 12",
    "graphene.h5 --which LA -k 13 --tol 1e-10",
    "flux.h5 --which SA -k 6",
    "flux.h5 --sigma 0.3 -k 5",
    "hofstadter.h5 --which LM -k 5",
    "anderson.h5 --which BE -k 5 --seed 3",
    "minij.h5 --which LA -k 4",
    "minij.h5 --which SM -k 4",
    "single.h5 --which SA",
    "lap3d.h5 --interval 2:2.6",
    "lap3d.h5 --interval 11:100 --method lanczos",
    "lap2d.h5 --threshold 0.3 --which SA",
    "mikota.h5:/K --mass mikota.h5:/M -k 5 --sigma 0 --conv rel",
    "mikota.h5:/K --mass mikota.h5:/M -k 3 --which LA",
    "circulant.h5 --general -k 5",
    "circulant.h5 --general -k 4 --sigma 0.5+2i",
    "frank.h5 --general --method dense -k 20",
    "lauchli.h5 --svd -k 3",
    "lauchli.h5 --svd --which SM -k 3",
    "blobs64.h5:/features --svd --centre -k 3",
    "lap2d.h5 --which LA --block-size 3 --max-basis 30 --method lanczos",
    "lap2d.h5 --which SA --method lanczos --max-iter 3",
    "lap2d.h5 --which SA --initial blobs_of_625.h5:/features",
    "lap2d.h5 --which SA --json",
    "lap2d.h5 --transpose --which LA --quiet",
    "toeplitz.h5",
    "lap2d.h5 --which XX",
    "no_such_file.h5",
]

KMEANS = ["blobs.h5:/features -k 10 --algorithm " + a for a in ("lloyd", "mini-batch", "bisecting", "balanced")] + [
    "blobs.h5:/features -k 12 --init " + i for i in ("k-means++", "k-means||", "random")] + [
    "blobs64.h5:/features -k 7 --tol-mode " + t for t in ("relative", "absolute", "labels")] + [
    "blobs64.h5:/features -k 2:8:2 --choose " + c
    for c in ("simplified-silhouette", "davies-bouldin", "calinski-harabasz")] + [
    "blobs.h5:/features -k 6 --metric cosine",
    "blobs64.h5:/features -k 6 --metric cosine --algorithm bisecting",
    "blobs.h5:/features -k 10 --precision fast",
    "blobs.h5:/features -k 10 --filter none --verify",
    "long.h5:/features -k 10 --memory 2M --verify-sample 100",
    "long.h5:/features -k 10 --memory 2M --metric cosine --init k-means||",
    "long.h5:/features -k 10 --memory 150K",
    "blobs.h5:/features -k 5 --n-init 3 --seed 9 --measures",
    "blobs.h5:/features --init blobs.h5:/centers",
    "blobs.h5:/features --predict blobs.h5:/centers",
    "blobs.h5:/features -k 5 --transform --rows 100:900",
    "blobs.h5:/features -k 9 --weights weights.h5:/features --json",
    "blobs.h5:/features -k 40 --init random --max-iter 1",
    "blobs16.h5:/features -k 12 --json",
    "far.h5:/features -k 5",
    "uniform.h5:/features -k 20",
    "duplicates.h5:/features -k 6",
    "duplicates.h5:/features -k 9",
    "lap2d.h5 -k 4",
    "blobs.h5:/features -k 0",
    "blobs.h5:/features -k 3 --init no_such_kind.h5",
]

OTHERS = [("tsdata", "info " + file) for file in ("lap2d.h5", "mikota.h5", "blobs.h5", "flux.h5")] + [
    (program, "--help") for program in ("tsdata", "tssolve", "tskmeans")] + [("tsdata", "gen --help")]

TIME = re.compile(r"\b[0-9][0-9.,]*(e[+-]?[0-9]+)?\s*(ns|us|µs|ms|s|min|h)\b")
RATES = re.compile(r", [0-9.,]+ [KMGT]?i?B/s.*")
IGNORED_ATTRIBUTES = ("elapsed_seconds", "program", "threads")  # a time, a build, a machine


def digest(*parts):
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def without_times(value):
    """A JSON value without what took how long."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if "seconds" not in k and k != "threads"}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def printed(text):
    try:
        text = json.dumps(without_times(json.loads(text)), sort_keys=True)
    except ValueError:
        text = TIME.sub("TIME", RATES.sub("", text))
    return digest(text.encode())


def as_bytes(value):
    value = np.asarray(value)
    return value.tobytes() if value.dtype.kind not in "OU" else str(value.tolist()).encode()


def contents(path):
    """Lines (what, hash) for all datasets of a file and all attributes together."""
    lines, attributes = [], []

    def visit(name, thing):
        for key, value in sorted(thing.attrs.items()):
            if key not in IGNORED_ATTRIBUTES:
                attributes.append(f"{name} {key} {as_bytes(value)!r}")
        if isinstance(thing, h5py.Dataset):
            kind = f"{thing.dtype} {thing.shape}".encode()
            lines.append(("/" + name, digest(kind, as_bytes(thing[()]))))

    with h5py.File(path, "r") as file:
        visit("", file)
        file.visititems(visit)
    return lines + [("attributes", digest("\n".join(attributes).encode()))]


class Runner:
    def __init__(self, folder, programs, only):
        self.folder, self.programs, self.only = folder, programs, only

    def run(self, program, words, output):
        """Prints the lines of one run that is given --output where `output` is a name."""
        name = program + " " + " ".join(words)
        listed = self.only in name
        if not listed and words[0] != "gen":
            return
        command = [os.path.join(self.programs, program)] + words + (["--output", output] if output else [])
        environment = dict(os.environ, LC_ALL="C", COLUMNS="80")
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env=environment, check=False)
        lines = [("exit", str(done.returncode)), ("stdout", printed(done.stdout)), ("stderr", printed(done.stderr))]
        path = os.path.join(self.folder, output or "")
        if os.path.isfile(path):
            lines += contents(path)
            if output == "out.h5":
                os.remove(path)
        for what, value in lines if listed else []:
            print(f"{name} {what}: {value}", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    programs = os.path.abspath(os.path.join(arguments.build, "bin"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        runner = Runner(folder, programs, arguments.only)
        extra = [("blobs_of_625", "blobs --n 625 --cols 4"), ("weights", "uniform --n 6000 --cols 1")]
        for name, words in FILES + extra:
            runner.run("tsdata", ["gen"] + words.split(), name + ".h5")
        for program, runs in (("tssolve", SOLVE), ("tskmeans", KMEANS)):
            for words in runs:
                runner.run(program, words.split() + ["--threads", "1"], "out.h5")
        for program, words in OTHERS:
            runner.run(program, words.split(), None)


if __name__ == "__main__":
    main()
