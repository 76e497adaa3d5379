#!/usr/bin/python3
"""Ranks in network namespaces of one machine, one of which is cut off: cut_network.py BIN [SETTINGS]

BIN is the folder of the programs. Three namespaces hang on one bridge, mpirun of Open MPI runs in the first and starts
a rank in each, which talk over TCP alone. A run of three must have the bits of one process. Then, each time in a run
that would go on: the last rank finds NaN, the last rank is killed, a namespace is cut off for one second, and each
namespace is cut off for good. Told are the exit status, how soon no rank was left after that, and whether one process
that goes on from the checkpoint ends with the bits of a run that nothing disturbed. SETTINGS of Open MPI's daemons,
1,1,2,0 unless given: time, interval and probes of keepalive, seconds between the signals that end a rank (1 as
installed). Root alone may make namespaces.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py

RANKS = range(1, 4)
NAMES = ("eigenvalues", "eigenvectors", "residual_norms")
OPTIONS = ["-k", "40", "--which", "SA", "--method", "lanczos", "--tol", "1e-12", "--quiet"]
AGENT = """#!/bin/sh
i=${1##*.}; shift
exec nsenter --net=/run/netns/cut$i unshare --uts sh -c "hostname cut$i; $*"
"""


def ip(words, check=True):
    subprocess.run(["ip", *words.split()], check=check, stderr=None if check else subprocess.DEVNULL)


def make_network():
    ip("link add cut0 type bridge")
    ip("link set cut0 up")
    for i in RANKS:
        ip(f"netns add cut{i}")
        ip(f"link add cut{i} type veth peer name eth0 netns cut{i}")
        ip(f"link set cut{i} master cut0 up")
        ip(f"-n cut{i} addr add 10.99.0.{i}/24 dev eth0")
        ip(f"-n cut{i} link set eth0 up")
        ip(f"-n cut{i} link set lo up")


def remove_network():
    for i in RANKS:
        ip(f"link del cut{i}", check=False)
        ip(f"netns del cut{i}", check=False)
    ip("link del cut0", check=False)


def start(program, words):
    """mpirun in the first namespace, a rank in each."""
    idle, interval, probes, grace = (sys.argv[2] if len(sys.argv) > 2 else "1,1,2,0").split(",")
    settings = {"plm_rsh_agent": os.path.abspath("agent"), "btl": "tcp,self", "btl_tcp_if_include": "10.99.0.0/24",
                "oob_tcp_if_include": "10.99.0.0/24", "hwloc_base_binding_policy": "none",
                "oob_tcp_keepalive_time": idle, "oob_tcp_keepalive_intvl": interval,
                "oob_tcp_keepalive_probes": probes, "odls_base_sigkill_timeout": grace}
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               **{"OMPI_MCA_" + name: value for name, value in settings.items()})
    hosts = ",".join(f"10.99.0.{i}" for i in RANKS)
    return subprocess.Popen(["./agent", "10.99.0.1", "exec", "mpirun", "-n", "3", "--host", hosts, program, *words],
                            env=env, stdout=subprocess.DEVNULL, stderr=open("said", "w", encoding="utf-8"))


def ranks_left():
    """Processes of this folder that are ranks, by namespace."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd") == os.getcwd() and \
                    os.path.basename(os.readlink(f"/proc/{entry}/exe")) == "tssolve":
                space = subprocess.run(["ip", "netns", "identify", entry], capture_output=True, text=True, check=False)
                found[space.stdout.strip()] = int(entry)
        except OSError:
            pass
    return found


def same_bits(a, b):
    with h5py.File(a) as x, h5py.File(b) as y:
        return all(x[name][()].tobytes() == y[name][()].tobytes() for name in NAMES)


def disturb(tssolve, what, action):
    run = start(tssolve, ["lap.h5", *OPTIONS, "-o", "three.h5", "--checkpoint", "state.h5", "--every", "1"])
    while not os.path.exists("state.h5"):
        time.sleep(0.05)
    time.sleep(1)
    begin = time.time()
    action()
    while run.poll() is None or ranks_left():
        time.sleep(0.1)
        if time.time() - begin > 600:
            sys.exit(f"{what}: ranks still run after ten minutes")
    seconds = time.time() - begin
    if run.returncode == 0:
        print(f"{what:40} goes on, bits of one process: {same_bits('one.h5', 'three.h5')}", flush=True)
        return
    subprocess.run([tssolve, "lap.h5", *OPTIONS, "--determinism", "gpu_to_gpu", "-o", "rest.h5", "--checkpoint",
                    "state.h5"], check=True, stdout=subprocess.DEVNULL)
    print(f"{what:40} status {run.returncode}, all ended after {seconds:.1f} s, bits after resuming: "
          f"{same_bits('one.h5', 'rest.h5')}", flush=True)


def cut(i, seconds=0.0):
    ip(f"link set cut{i} down")
    if seconds:
        time.sleep(seconds)
        ip(f"link set cut{i} up")


def main():
    programs = os.path.abspath(sys.argv[1])
    tssolve, folder = programs + "/tssolve", tempfile.mkdtemp()
    os.chdir(folder)
    with open("agent", "w", encoding="utf-8") as agent:
        agent.write(AGENT)
    os.chmod("agent", 0o700)
    try:
        make_network()
        subprocess.run([programs + "/tsdata", "gen", "lap3d", "--n", "36", "-o", "lap.h5", "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([tssolve, "lap.h5", *OPTIONS, "--determinism", "gpu_to_gpu", "-o", "one.h5"], check=True,
                       stdout=subprocess.DEVNULL)
        status = start(tssolve, ["lap.h5", *OPTIONS, "-o", "three.h5"]).wait(300)
        print(f"{'three ranks':40} status {status}, bits of one process: {same_bits('one.h5', 'three.h5')}", flush=True)
        shutil.copy("lap.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as bad:
            bad["matrix/values"][-1] = float("nan")
        begin, status = time.time(), start(tssolve, ["bad.h5", *OPTIONS]).wait(300)
        with open("said", encoding="utf-8") as said:
            lines = [line.strip() for line in said if line.startswith("tssolve: ")]
        print(f"{'NaN on the last':40} status {status}, {time.time() - begin:.1f} s from start to end: {lines}",
              flush=True)
        disturb(tssolve, "the last is killed", lambda: os.kill(ranks_left()["cut3"], signal.SIGKILL))
        disturb(tssolve, "the last is cut off for one second", lambda: cut(3, 1))
        for i in reversed(RANKS):
            disturb(tssolve, f"cut off for good: rank {i - 1}" + (", mpirun" if i == 1 else ""), lambda i=i: cut(i))
            ip(f"link set cut{i} up")
    finally:
        remove_network()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
