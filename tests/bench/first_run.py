#!/usr/bin/env python3
"""What the first run on a GPU takes longer than later ones: with an empty cache of kernels, with and without the pack
of kernels that are compiled ahead (`tsbench pack`), beside runs that find all of them in the cache.

Needs a GPU, and Python alone. Run as:
  first_run.py BIN [--arch sm_90a] [--pack FILE] [--repeat 3] [--only WORD]
BIN is the folder of tssolve, tskmeans, tsdata and tsbench. Without --pack one is made, and its time told.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time


def cases(binaries, folder):
    """name, input maker, command"""
    def gen(name, *words):
        path = f"{folder}/{name}.h5"
        return path, lambda: subprocess.run([f"{binaries}/tsdata", "gen", *words, "-o", path], check=True,
                                            stdout=subprocess.DEVNULL)

    def solve(path, *words):
        return [f"{binaries}/tssolve", path, "--device", "cuda", "--json", *words]

    def cluster(path, k):
        return [f"{binaries}/tskmeans", path, "--n-clusters", str(k), "--device", "cuda", "--json"]

    line, make_line = gen("line", "lap1d", "--n", "7")
    small, make_small = gen("small", "lap3d", "--n", "20")
    large, make_large = gen("large", "lap3d", "--n", "128")
    ring, make_ring = gen("ring", "fluxring", "--n", "5000", "--phi", "0.3")
    narrow, make_narrow = gen("narrow", "blobs", "--n", "1000000", "--cols", "16", "--groups", "64", "--dtype",
                              "float32")
    wide, make_wide = gen("wide", "blobs", "--n", "100000", "--cols", "128", "--groups", "1000", "--dtype", "float32")
    double, make_double = gen("double", "blobs", "--n", "200000", "--cols", "32", "--groups", "16", "--dtype",
                              "float64")
    return [
        ("7 rows", make_line, solve(line, "-k", "2")),
        ("lap3d 20^3 -k 20", make_small, solve(small, "-k", "20", "--which", "SA")),
        ("fluxring 5000 -k 12", make_ring, solve(ring, "-k", "12", "--which", "SA")),
        ("lap3d 128^3 -k 20", make_large, solve(large, "-k", "20", "--which", "SA")),
        ("lap3d 128^3 -k 20 mixed", make_large, solve(large, "-k", "20", "--which", "SA", "--precision", "mixed")),
        ("k-means 1e6 x 16, k 64", make_narrow, cluster(narrow, 64)),
        ("k-means 1e5 x 128, k 1000", make_wide, cluster(wide, 1000)),
        ("k-means 2e5 x 32 f64, k 16", make_double, cluster(double, 16)),
    ]


def seconds_of(command, cache, pack):
    env = dict(os.environ, XDG_CACHE_HOME=cache, TALLSKINNY_KERNELS=pack)
    start = time.perf_counter()
    run = subprocess.run(command, env=env, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if run.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr}")
    return seconds, run


def kernels_in(cache):
    folder = f"{cache}/tallskinny"
    return len(os.listdir(folder)) if os.path.isdir(folder) else 0


def cold_and_warm(command, pack, repeat):
    """Seconds of the first run and of the quickest later one, kernels compiled by the first and since, its log."""
    with tempfile.TemporaryDirectory() as cache:
        cold, first = seconds_of(command, cache, pack)
        compiled = kernels_in(cache)
        warm = min(seconds_of(command, cache, pack)[0] for _ in range(repeat))
        return cold, warm, compiled, kernels_in(cache) - compiled, first


def measure(name, command, pack, repeat):
    # Twice: a machine that is shared may take much longer once.
    cold, warm, compiled, late, first = min((cold_and_warm(command, "none", repeat) for _ in range(2)),
                                            key=lambda r: r[0])
    packed, warm_packed, missing, _, again = min((cold_and_warm(command, pack, repeat) for _ in range(2)),
                                                 key=lambda r: r[0])
    print(f"{name:28} {cold:7.2f} {warm:7.2f} {cold - warm:8.2f} {compiled:8d} {packed:9.2f} {warm_packed:7.2f} "
          f"{packed - warm_packed:8.2f} {missing:8d}" + (f"   {late} more when warm" if late else ""), flush=True)
    for line in first.stderr.splitlines():
        if "compiled" in line:
            print("    without pack:", line)
    for line in again.stderr.splitlines():
        if "compiled" in line:
            print("    with pack:", line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--pack")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    binaries = os.path.abspath(arguments.binaries)
    print(f"{len(os.sched_getaffinity(0))} processors", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        pack = arguments.pack and os.path.abspath(arguments.pack)
        if not pack:
            pack = f"{folder}/kernels.pack"
            command = [f"{binaries}/tsbench", "pack", "--arch", arguments.arch, "--output", pack]
            seconds, run = seconds_of(command, folder, "none")
            print(run.stdout.strip().splitlines()[-1], f"({seconds:.1f} s)", flush=True)
        print("seconds, least of", arguments.repeat, "where warm; kernels that were compiled")
        print(f"{'':28} {'without a pack':^33} {'with the pack':^35}")
        print(f"{'':28} {'cold':>7} {'warm':>7} {'more':>8} {'kernels':>8} {'cold':>9} {'warm':>7} {'more':>8} "
              f"{'kernels':>8}")
        made = set()
        for name, make, command in cases(binaries, folder):
            if arguments.only not in name:
                continue
            if command[1] not in made:
                make()
                made.add(command[1])
            measure(name, command, pack, arguments.repeat)


main()
