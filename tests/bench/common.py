"""What all comparisons share: runs of the programs, times, tables, and what a table means nothing without."""
import datetime
import json
import os
import re
import subprocess
import sys
import time

NAN = float("nan")
MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # for containers


def output_of(command, statuses=(0,), env=None):
    """What a command prints; another exit status ends the script."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode not in statuses:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def json_of(command, env=None):
    """What a program says by --json, converged (0) or not (3)."""
    return json.loads(output_of([*command, "--json", "--quiet"], (0, 3), env))


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def fastest(runs):
    return min(runs, key=lambda run: run[0], default=(NAN, None))


class Table:
    """Columns "title:format", where a format begins with the width."""

    def __init__(self, *columns):
        self.formats = [column.split(":")[1] for column in columns]
        widths = [int(re.match("[<>+]?([0-9]+)", text)[1]) for text in self.formats]
        print(*(f"{column.split(':')[0]:{'<' if text[0] == '<' else '>'}{width}}"
                for column, text, width in zip(columns, self.formats, widths)), flush=True)

    def row(self, *cells):
        print(*(format(cell, text) for cell, text in zip(cells, self.formats)), flush=True)


def print_head():
    """Command, date, commit, processor."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False,
                            cwd=os.path.dirname(os.path.abspath(__file__)))
    print(f"{' '.join(sys.argv)}: {datetime.date.today()}, commit {commit.stdout.strip()}, {model}, "
          f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}", flush=True)
