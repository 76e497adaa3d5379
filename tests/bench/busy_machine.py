#!/usr/bin/env python3
"""tskmeans and tssolve on a machine that others use, too: what threads that wait cost.

Every program runs alone, beside as many spinning processes as there are processors, and with a quota of half a
processor (a control group where one can be made, else SIGSTOP and SIGCONT in turns), with as many threads as it takes
by itself and with all; with --before likewise those of an older build. Contestants take turns; medians count.

usage: busy_machine.py FOLDER [--before FOLDER] [--turns N]
FOLDER holds tskmeans, tssolve and tsdata
"""
import argparse
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

GROUP = "tallskinny-bench"
PERIOD = 100_000  # microseconds


def group_of_quota(share):
    """A control group with `share` of a processor: the file that takes its processes, or None."""
    for root, files in (("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": int(share * PERIOD)}),
                        ("/sys/fs/cgroup", {"cpu.max": f"{int(share * PERIOD)} {PERIOD}"})):
        group = pathlib.Path(root, GROUP)
        try:
            group.mkdir(exist_ok=True)
            for name, value in files.items():
                if not (group / name).exists():
                    raise OSError(name)
                (group / name).write_text(str(value))
            return group / "cgroup.procs"
        except OSError:
            if group.is_dir():
                group.rmdir()
    return None


def stop_and_go(process, share, slice_seconds=0.05):
    """Lets the process run for a share of the time."""
    while process.poll() is None:
        time.sleep(slice_seconds * share)
        process.send_signal(signal.SIGSTOP)
        time.sleep(slice_seconds * (1 - share))
        process.send_signal(signal.SIGCONT)


class Situation:
    def __init__(self, name, spinners=0, share=None):
        self.name, self.spinners, self.share = name, spinners, share

    def __enter__(self):
        self.others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self.spinners)]
        self.group = group_of_quota(self.share) if self.share else None
        return self

    def __exit__(self, *_):
        for other in self.others:
            other.kill()
            other.wait()
        if self.group:
            self.group.parent.rmdir()

    def seconds(self, command):
        """Wall and processor seconds of one run."""
        join = (lambda: self.group.write_text(str(os.getpid()))) if self.group else None
        start = time.perf_counter()
        process = subprocess.Popen(command, preexec_fn=join, stdout=subprocess.DEVNULL)
        if self.share and not self.group:
            threading.Thread(target=stop_and_go, args=(process, self.share)).start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3):
            sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
        return time.perf_counter() - start, used.ru_utime + used.ru_stime


def cases(data):
    points, matrix, chain = data / "points.h5", data / "matrix.h5", data / "chain.h5"
    return [
        ("tskmeans", [points, "-k", "32", "--tol-mode", "labels", "--max-iter", "150"]),
        ("tssolve sparse", [matrix, "-k", "10", "--which", "SA"]),
        ("tssolve small", [chain, "-k", "10", "--which", "LM", "--sigma", "0.1"]),
    ], [
        ["gen", "uniform", "--n", "20000", "--cols", "8", "-o", points],
        ["gen", "lap3d", "--n", "24x24x24", "-o", matrix],
        ["gen", "lap1d", "--n", "4000", "-o", chain],
    ]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", default=str(len(os.sched_getaffinity(0))))
    options = parser.parse_args()
    processors = len(os.sched_getaffinity(0))

    contestants = [(name + how, folder, more)
                   for name, folder in (("now", options.programs), ("before", options.before)) if folder
                   for how, more in (("", []), (", all threads", ["--threads", options.threads]))]
    with tempfile.TemporaryDirectory() as temporary:
        runs, makers = cases(pathlib.Path(temporary))
        for maker in makers:
            subprocess.run([options.programs / "tsdata", *maker, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        print(f"# {platform.processor() or platform.machine()}, {processors} processors, "
              f"{time.strftime('%Y-%m-%d', time.gmtime())}, median of {options.turns} turns")
        print(f"{'situation':<16}{'program':<16}{'contestant':<20}{'seconds':>9}{'at most':>9}{'processor':>11}")
        for situation in (Situation("alone"), Situation("busy", spinners=processors),
                          Situation("half a processor", share=0.5)):
            with situation:
                for name, arguments in runs:
                    times = {contestant[0]: [] for contestant in contestants}
                    for _ in range(options.turns):
                        for contestant, folder, more in contestants:
                            command = [folder / name.split()[0], *arguments, *more, "--quiet"]
                            times[contestant].append(situation.seconds(command))
                    for contestant, found in times.items():
                        wall, used = zip(*found)
                        print(f"{situation.name:<16} {name:<15} {contestant:<19} {statistics.median(wall):9.3f}"
                              f"{max(wall):9.3f}{statistics.median(used):11.3f}", flush=True)


main()
