#!/usr/bin/env python3
"""Small whole runs of every program, again and again, in each of which one call of the system or one allocation fails.

faults.cpp is preloaded and fails the n-th open, read, write, fsync, rename, mmap or allocation. n rises until none is
hit. Of allocations, which are many thousands, those fail to which other functions lead than to earlier ones; all with
--every.
Whatever fails, a run ends without a signal; if it ends with 0, its output is that of a run without faults; old files
are as they were, or whole and new; no other file is left; and a message names the file that could not be used.

usage: walk.py FOLDER_OF_PROGRAMS FAULTS.so [--case NAME] [--kind NAME] [--number N] [--every] [--jobs COUNT]
"""
import argparse
import collections
import concurrent.futures
import errno
import gzip
import mmap
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

KINDS = {"open": (1, errno.EACCES), "read": (2, errno.EIO), "write": (3, errno.ENOSPC), "fsync": (4, errno.EIO),
         "rename": (5, errno.EACCES), "mmap": (6, errno.ENOMEM), "allocation": (7, errno.ENOMEM)}
HEADER = struct.Struct("<IIQQI28s4096s")  # Shared of faults.cpp
MOST_PATHS = 1 << 20
LIMIT = 120  # seconds after which a run is taken for one that never ends
OLD = b"an old file that is worth more than a run\n"

Case = collections.namedtuple("Case", "name arguments inputs outputs")
Ended = collections.namedtuple("Ended", "code out err files count hit call file")


# ---- the runs -------------------------------------------------------------------------------------------------------

def make_inputs(programs, folder):
    """The files that the cases read."""
    def gen(*arguments):
        subprocess.run([os.path.join(programs, "tsdata"), "gen", *arguments, "--quiet"], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL)
    gen("lap2d", "--n", "20x16", "-o", "grid.h5")
    gen("lap2d", "--n", "9x8", "-o", "small.h5")
    gen("blobs", "--n", "300", "--cols", "4", "-o", "points.h5")
    rows = [f"{i % 7},{(i * i) % 11},{(3 * i) % 5}\n" for i in range(60)]
    with open(os.path.join(folder, "table.csv"), "w") as out:
        out.writelines(["a,b,c\n", *rows])
    with gzip.open(os.path.join(folder, "table.csv.gz"), "wt") as out:
        out.writelines(["a,b,c\n", *rows])
    with open(os.path.join(folder, "matrix.mtx"), "w") as out:
        n = 40
        out.write(f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {2 * n - 1}\n")
        out.writelines(f"{i} {i} {2 + i / n}\n" for i in range(1, n + 1))
        out.writelines(f"{i + 1} {i} -1\n" for i in range(1, n))
    subprocess.run([os.path.join(programs, "tskmeans"), "table.csv", "-k", "3", "-o", "model.h5", "--quiet"],
                   check=True, cwd=folder, stdout=subprocess.DEVNULL)


CASES = [
    Case("gen", "tsdata gen lap2d --n 12x9 -o out.h5", [], ["out.h5"]),
    Case("info", "tsdata info grid.h5", ["grid.h5"], []),
    Case("convert a text", "tsdata convert matrix.mtx out.h5", ["matrix.mtx"], ["out.h5"]),
    Case("convert a table", "tsdata convert table.csv.gz out.h5", ["table.csv.gz"], ["out.h5"]),
    Case("solve", "tssolve small.h5 -k 2 --which LA --method lanczos --block-size 12 --tol 1e-3 -o out.h5 "
         "--values-out v.npy --checkpoint c.h5 --every 0 --json", ["small.h5"], ["out.h5", "v.npy"]),
    Case("solve a whole", "tssolve matrix.mtx -k 3 --which LA --vectors-out v.npy", ["matrix.mtx"], ["v.npy"]),
    Case("solve by factors", "tssolve grid.h5 -k 3 --sigma 0 --values-out v.csv", ["grid.h5"], ["v.csv"]),
    Case("cluster", "tskmeans points.h5 -k 4 -o out.h5 --labels-out l.npy --checkpoint c.h5 --every 0 --json",
         ["points.h5"], ["out.h5", "l.npy"]),
    Case("cluster a table", "tskmeans table.csv -k 3 --log steps.jsonl --report page.html",
         ["table.csv"], ["steps.jsonl", "page.html"]),
    Case("predict", "tskmeans table.csv.gz --predict model.h5 --labels-out l.csv", ["table.csv.gz", "model.h5"],
         ["l.csv"]),
    Case("plan", "tsbench plan tsmm float64 1000000 8 4", [], []),
]


def without_times(name, text):
    """Output without what no two runs have in common; of a page of curves, without its numbers."""
    if name.endswith(".html"):
        return re.sub(rb"[0-9.]+", b"N", text)
    text = re.sub(rb'("[a-z_]*(?:seconds|per_second|share_of_limit)[a-z_]*": ?)(?:\{[^}]*\}|[^,}\n]+)', rb"\1T", text)
    return re.sub(rb"[0-9.]+ [mu]?s\b", b"T", text)


class Right:
    """How a case ends without faults, of three runs: what differs among them in a file of HDF5 are times."""

    def __init__(self, runs):
        self.runs, self.first = runs, runs[0]

    def is_output(self, text):
        return without_times("", text) == without_times("", self.first.out)

    def is_file(self, name, found):
        files = [run.files[name] for run in self.runs]
        if name.endswith(".jsonl"):  # begins anew, and has a line more after each step
            return without_times(name, files[0]).startswith(without_times(name, found))
        if not name.endswith(".h5"):
            return without_times(name, found) == without_times(name, files[0])
        same = [len({file[at:at + 8] for file in files}) == 1 for at in range(0, len(files[0]), 8)]
        return len(found) == len(files[0]) and all(
            found[8 * i:8 * i + 8] == files[0][8 * i:8 * i + 8] for i, fixed in enumerate(same) if fixed)


class Place:
    """A folder in which a case is run, with the file through which faults.cpp is told what fails."""

    def __init__(self, programs, library, inputs, temporary):
        self.programs, self.library, self.inputs = programs, library, inputs
        self.root = tempfile.mkdtemp(dir=temporary)
        self.folder = os.path.join(self.root, "run")
        self.told = os.path.join(self.root, "faults")
        with open(self.told, "wb") as out:
            out.truncate(HEADER.size + 8 * MOST_PATHS)

    def run(self, case, kind, number):
        """Runs the case with call `number` of a kind failing (0: none)."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        for name in case.inputs:
            shutil.copy(os.path.join(self.inputs, name), self.folder)
        for name in case.outputs:
            with open(os.path.join(self.folder, name), "wb") as out:
                out.write(OLD)
        with open(self.told, "r+b") as out:
            out.write(HEADER.pack(*KINDS[kind], number, 0, 0, b"", b""))
        program, *arguments = case.arguments.split()
        environment = dict(os.environ, LD_PRELOAD=self.library, TS_FAULTS=self.told, OMP_NUM_THREADS="1", LC_ALL="C")
        err = os.path.join(self.root, "err")
        with open(os.path.join(self.root, "out"), "w+b") as out, open(err, "w+b") as errors:
            try:
                code = subprocess.run([os.path.join(self.programs, program), *arguments], cwd=self.folder,
                                      env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                                      timeout=LIMIT).returncode
            except subprocess.TimeoutExpired:
                code = None
            out.seek(0), errors.seek(0)
            texts = out.read(), errors.read()
        files = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), "rb") as file:
                files[name] = file.read()
        with open(self.told, "rb") as file:
            _, _, _, count, hit, call, name = HEADER.unpack(file.read(HEADER.size))
        return Ended(code, *texts, files, count, hit, call.split(b"\0")[0].decode(), name.split(b"\0")[0].decode())

    def paths(self, count):
        """Which functions led to each of the calls of a run in which none failed."""
        with open(self.told, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as all_of_it:
            return struct.unpack_from(f"<{count}Q", all_of_it, HEADER.size)


# ---- verdicts -------------------------------------------------------------------------------------------------------

def faults_of(case, right, ended, place):
    """What is wrong about how a run with a fault has ended, a sentence each."""
    program, err = case.arguments.split()[0], ended.err.decode(errors="replace")
    if ended.code is None:
        yield f"does not end within {LIMIT} s"
        return
    if ended.code < 0 or ended.code > 128:
        yield f"ends by signal {-ended.code if ended.code < 0 else ended.code - 128}"
    for name in case.inputs:
        if ended.files.get(name) != right.first.files[name]:
            yield f"changes its input {name}"
    for name in set(ended.files) - set(case.inputs) - set(case.outputs):
        if ended.code == 0 or name != "c.h5":
            yield f"leaves {name}"
    for name in case.outputs:
        found = ended.files.get(name)
        whole = found is not None and right.is_file(name, found)
        if not whole and (ended.code == 0 or found != OLD):
            yield f"leaves a {name} that is neither old nor the one of a run without faults"
    if ended.code == 0:
        # A description says what of the file it lacks.
        told = any(b" not read: " + n.encode() in ended.out for n in case.inputs)
        told = told or (b"it cannot be read" in ended.out and any(n in err for n in case.inputs))
        if not right.is_output(ended.out) and not told:
            yield "prints something else, with exit status 0"
        return
    silent = ended.call.startswith("write") and os.path.basename(ended.file) == "err"
    # Before main the loader and libraries speak for themselves.
    before = "error while loading shared libraries: " in err or err.lstrip().startswith("libgomp: Out of memory")
    if not silent and not before and not re.search(rf"^{program}: .", err, re.M):
        yield f"ends with {ended.code} and without a message"
    is_file = ended.file and ":[" not in ended.file  # and no pipe or socket
    inside = os.path.realpath(os.path.join(place.folder, ended.file)) if is_file else ""
    if os.path.dirname(inside) == os.path.realpath(place.folder):
        name = os.path.basename(inside)
        names = [*case.outputs, "c.h5"] if name.startswith(".tallskinny") else [name]
        if not any(n in err for n in names):
            yield f"does not name {name}"


def numbers_of(kind, paths, seen, every):
    """Which calls are to fail: all, or of allocations the first of each path that is not in `seen`, which gets them."""
    if kind != "allocation" or every:
        return list(range(1, len(paths) + 1))
    first = {}
    for number, path in enumerate(paths, 1):
        if path not in seen:
            first.setdefault(path, number)
    seen.update(paths)
    return sorted(first.values())


def walk(case, kind, seen, places, arguments):
    """Prints a line, and one for each fault that is not borne; returns how many those are."""
    right, plain = Right([places[0].run(case, kind, 0) for _ in range(3)]), places[0].run(case, kind, 0)
    faults = [] if right.first.code != 0 else [*faults_of(case, right, plain, places[0])]
    if right.first.code != 0 or faults or plain.count > MOST_PATHS:
        print(f"{case.name}, {kind}: does not run without faults: exit {right.first.code}, {plain.count} calls: "
              f"{faults} {right.first.err.decode(errors='replace')}", flush=True)
        return 1
    paths = places[0].paths(plain.count)
    numbers = [arguments.number] if arguments.number else numbers_of(kind, paths, seen, arguments.every)
    bad = unhit = 0

    def work(share):
        place, found = places[share], []
        for number in numbers[share::len(places)]:
            ended = place.run(case, kind, number)
            found.append((number, ended, [*faults_of(case, right, ended, place)]))
        return found

    with concurrent.futures.ThreadPoolExecutor(len(places)) as pool:
        for number, ended, faults in sorted(sum(pool.map(work, range(len(places))), [])):
            unhit += not ended.hit
            if faults or arguments.number:
                bad += bool(faults)
                print(f"  {case.name}: {kind} {number} ({ended.call} {ended.file}): exit {ended.code}; "
                      f"{'; '.join(faults)}\n    {ended.err.decode(errors='replace').strip()[:400]}")
    beyond = places[0].run(case, kind, 2 * len(paths) + 1000)
    if beyond.hit or [*faults_of(case, right, beyond, places[0])]:
        bad += 1
        print(f"  {case.name}: {kind}: a run beyond the last call is hit, or is not right")
    print(f"{case.name}, {kind}: {len(paths)} calls, {len(numbers)} failed one by one"
          + (f", {unhit} of them not met again" if unhit else "") + (f": {bad} not borne" if bad else ""), flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("library")
    parser.add_argument("--case", choices=[case.name for case in CASES])
    parser.add_argument("--kind", choices=list(KINDS))
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    programs, library = os.path.abspath(arguments.programs), os.path.abspath(arguments.library)
    bad, seen = 0, set()
    with tempfile.TemporaryDirectory() as temporary:
        inputs = os.path.join(temporary, "inputs")
        os.mkdir(inputs)
        make_inputs(programs, inputs)
        places = [Place(programs, library, inputs, temporary) for _ in range(arguments.jobs)]
        for case in CASES:
            for kind in KINDS:
                if arguments.case in (None, case.name) and arguments.kind in (None, kind):
                    bad += walk(case, kind, seen, places, arguments)
    print(f"{bad} faults are not borne" if bad else "every fault is borne")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
