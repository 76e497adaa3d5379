#!/usr/bin/env python3
"""Whether the time left that the meter shows is right: runs in a terminal of 80 columns, what is said after the first
tenth of a run beside what it took.

Needs Python alone. Run as: meter.py BIN [--only WORD] [--size FACTOR]. BIN is the folder of tssolve, tskmeans and
tsdata; with --size 0.2 the inputs have a fifth of the rows, and runs are hardly long enough.
"""
import argparse
import fcntl
import math
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time

COLUMNS = 80
MOMENTS = (0.1, 0.3, 0.5)
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}


def seconds_of(text):
    """"1 h 02 min" as a number."""
    words = text.split()
    return sum(float(number) * UNITS[unit] for number, unit in zip(words[::2], words[1::2]))


def watch(command):
    """What the meter draws, with the seconds since the first, how long it went on, and its longest line."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave, env=environment,
                               close_fds=True)
    os.close(slave)
    drawn, pending, widest = [], "", 0
    while True:
        try:
            read = os.read(master, 65536)
        except OSError:  # the terminal's other end is closed
            break
        if not read:
            break
        now = time.monotonic()
        *lines, pending = (pending + read.decode(errors="replace")).split("\r\033[K")
        drawn += [(now, line) for line in lines + [pending] if line]
        widest = max([widest, *(len(line) for line in lines if "\n" not in line)])  # others are notes
    ended = time.monotonic()
    os.close(master)
    process.wait()
    if process.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}: {drawn[-1:]}")
    drawn = [(at, line) for at, line in drawn if not line.startswith("reading")]
    if not drawn:
        return [], 0, widest
    begun = drawn[0][0]
    return [(at - begun, line) for at, line in drawn], ended - begun, widest


def ratios_of(drawn, took):
    """For each moment: when the first estimate from then on was shown, and by which factor it was off."""
    said = [(at, seconds_of(found[1])) for at, line in drawn
            if (found := re.search(r"about ([0-9a-z. ]+) left", line))]
    for moment in MOMENTS:
        yield next(((at / took, left / (took - at)) for at, left in said if at >= moment * took), None)


def cases(binaries, folder, size):
    """name, what makes the input, command"""
    def rows(count):
        return str(int(count * size))

    def side(count):
        return str(int(count * size ** (1 / 3)))

    def case(name, kind, words, *run):
        file = f"{folder}/{name.split()[0]}.h5"
        make = [f"{binaries}/tsdata", "gen", kind, *words, "-o", file, "-q"]
        return " ".join([name, *run]), file, make, [f"{binaries}/{run[0]}", file, *run[1:]]

    uniform = ("uniform", ["--n", rows(4e6), "--cols", "8"])
    plane = ("uniform", ["--n", rows(4e6), "--cols", "2"])
    mixed = ("blobs", ["--n", rows(2e6), "--cols", "16", "--groups", "20", "--spread", "6"])
    many = ("blobs", ["--n", rows(3e6), "--cols", "8", "--groups", "100", "--spread", "2"])
    wide = ("blobs", ["--n", rows(6e5), "--cols", "64", "--groups", "300", "--spread", "4"])
    cube, square = ("lap3d", ["--n", side(48)]), ("lap2d", ["--n", side(250)])
    return [
        case("uniform 8", *uniform, "tskmeans", "-k", "64"),
        case("uniform 8", *uniform, "tskmeans", "-k", "200", "--init", "random"),
        case("uniform 8", *uniform, "tskmeans", "-k", "24", "--n-init", "4"),
        case("plane 2", *plane, "tskmeans", "-k", "200"),
        case("mixed 16", *mixed, "tskmeans", "-k", "30"),
        case("mixed 16", *mixed, "tskmeans", "-k", "60"),
        case("mixed 16", *mixed, "tskmeans", "-k", "20:60:20"),
        case("many 8", *many, "tskmeans", "-k", "80"),
        case("many 8", *many, "tskmeans", "-k", "200"),
        case("wide 64", *wide, "tskmeans", "-k", "100", "--init", "random"),
        case("uniform 8", *uniform, "tskmeans", "-k", "64", "--algorithm", "mini-batch"),
        case("mixed 16", *mixed, "tskmeans", "-k", "200", "--algorithm", "mini-batch"),
        case("mixed 16", *mixed, "tskmeans", "-k", "64", "--algorithm", "bisecting"),
        case("uniform 8", *uniform, "tskmeans", "-k", "100", "--algorithm", "bisecting"),
        case("wide 64", *wide, "tskmeans", "-k", "1024", "--algorithm", "two-level"),
        case("mixed 16", *mixed, "tskmeans", "-k", "1024", "--algorithm", "two-level"),
        case("cube", *cube, "tssolve", "-k", "20", "--which", "SA", "--method", "lanczos"),
        case("cube", *cube, "tssolve", "-k", "10", "--which", "LA", "--method", "lanczos"),
        case("cube", *cube, "tssolve", "-k", "40", "--which", "LA", "--method", "lanczos"),
        case("cube", *cube, "tssolve", "-k", "10", "--which", "SA", "--method", "lobpcg"),
        case("cube", *cube, "tssolve", "-k", "10", "--which", "SA", "--method", "davidson"),
        case("square", *square, "tssolve", "-k", "10", "--which", "LA", "--method", "lanczos"),
        case("square", *square, "tssolve", "-k", "30", "--which", "LA", "--method", "lanczos"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binaries")
    parser.add_argument("--only", default="")
    parser.add_argument("--size", type=float, default=1)
    asked = parser.parse_args()
    print(f"{'run':<64} {'took':>7}  " + "  ".join(f"{f'from {moment:.0%} on':>12}" for moment in MOMENTS))
    found, widest = {moment: [] for moment in MOMENTS}, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, file, make, command in cases(os.path.abspath(asked.binaries), folder, asked.size):
            if asked.only not in name:
                continue
            if not os.path.exists(file):
                subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
            drawn, took, longest = watch(command)
            widest = max(widest, longest)
            cells = []
            for moment, ratio in zip(MOMENTS, ratios_of(drawn, took)):
                if ratio:
                    found[moment].append(ratio[1])
                cells.append(f"{ratio[1]:.2f} at {ratio[0]:3.0%}" if ratio else "none")
            print(f"{name:<64} {took:6.1f}s  " + "  ".join(f"{cell:>12}" for cell in cells), flush=True)
    for moment, ratios in found.items():
        if ratios:
            good = sum(0.5 < ratio < 2 for ratio in ratios)
            typical = math.exp(sum(abs(math.log(max(ratio, 1e-3))) for ratio in ratios) / len(ratios))
            print(f"from {moment:.0%} on: {good} of {len(ratios)} within a factor of 2, typically {typical:.2f}")
    print(f"the longest line has {widest} characters in a terminal of {COLUMNS} columns")
    if widest >= COLUMNS:
        sys.exit("lines do not fit the terminal")


if __name__ == "__main__":
    main()
