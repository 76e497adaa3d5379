#!/usr/bin/env python3
"""The model behind docs/scaling.md: what a run on many ranks moves, sends, needs and takes, from sizes alone.

  docs/scaling.py                                            all figures of the page
  docs/scaling.py kmeans MACHINE POINTS FEATURES CLUSTERS BYTES RANKS...   one table, BYTES of a number
  docs/scaling.py lanczos MACHINE ROWS ENTRIES NEV BYTES RANKS...          one table, of a sparse matrix
  docs/scaling.py grid MACHINE SIDE RANKS...                 one table, 20 eigenvalues of the Laplacian of a cube

Needs Python alone. MACHINE is a name of MACHINES below: add yours there.
"""
import collections
import math
import sys

# Rates and bytes of a rank while all ranks of its node work; `network` of a node, `files` of all ranks together.
Machine = collections.namedtuple("Machine", "text gpu ranks_per_node memory memory_rate flops narrow_flops "
                                 "latency network node_latency node_network files")
MACHINES = {
    # Assumed: 20 GB/s for both cores, 3 GHz, two fused multiply-adds of 256 bits a cycle.
    "laptop": Machine("2 cores, a rank each", False, 2, 4e9, 1e10, 4.8e10, 9.6e10, 5e-5, 1.25e8, 1e-6, 5e9, 5e8),
    # NVIDIA, H100 SXM: 80 GB, 3.35 TB/s, 34 Tflop/s in float64 and 67 in float32 without tensor cores, NVLink 900 GB/s
    # both ways together. Measured: 3 TB/s for copies, and the float32 rate of passes of k-means in half precision
    # (2^22 x 128, k = 1000). Assumed: 17 us for a small collective of NCCL, network, files in memory.
    "h100-pair": Machine("2 H100 SXM, a rank each, joined by NVLink", True, 2, 8.55e10, 3e12, 3.4e13, 3.1e14, 5e-6,
                         1e11, 1.7e-5, 4.5e11, 4e9),
    # AMD, EPYC 9654: 12 channels of DDR5-4800 (461 GB/s), 96 cores of 2.4 GHz with 16 float64 flops a cycle. InfiniBand
    # HDR: 200 Gbit/s a node. Assumed: 384 GB a processor, latencies, rates within a node, files.
    "cpu-cluster": Machine("2 EPYC 9654 of 96 cores, a rank each; 200 Gbit/s", False, 2, 3.84e11, 4.61e11, 3.69e12,
                           7.37e12, 2e-6, 2.5e10, 1e-6, 2e10, 1e11),
    # NVIDIA, H100 SXM as above, and DGX H100: 8 x 400 Gbit/s a node. Assumed: latencies, files.
    "h100-cluster": Machine("8 H100 SXM, a rank each; 8 times 400 Gbit/s", True, 8, 8e10, 3.35e12, 3.4e13, 6.7e13,
                            5e-6, 4e11, 3e-6, 4.5e11, 1e11),
}

PASSES, STEPS = 30, 60  # that are assumed
PIECE = 4096            # rows over which k-means sums in order
MOST_UNITS = 24         # of rows over which tssolve sums in order
LONG_MESSAGE = 512 * 1024


class Cost:
    """Of the rank that has the most rows. Memory and arithmetic overlap; messages are waited for."""

    def __init__(self, machine, ranks):
        self.machine, self.ranks = machine, ranks
        self.moved = self.sent = self.memory_seconds = self.arithmetic_seconds = self.latency = self.network = 0.0

    @property
    def work(self):
        return max(self.memory_seconds, self.arithmetic_seconds)

    @property
    def seconds(self):
        return self.work + self.latency + self.network

    def add_work(self, moved, flops, narrow):
        m = self.machine
        self.moved += moved
        self.memory_seconds += moved / m.memory_rate
        self.arithmetic_seconds += flops / (m.narrow_flops if narrow else m.flops)

    def add_messages(self, messages, sent):
        latency, rate = link(self.machine, self.ranks)
        self.sent += sent
        self.latency += messages * latency
        self.network += sent / rate

    # Thakur, Rabenseifner, Gropp 2005, Optimization of collective communication operations in MPICH.
    def add_all_gather(self, count):
        """Every rank gets `count` bytes that all have together: by doubling, or in a ring where that is long."""
        if self.ranks > 1:
            messages = doublings(self.ranks) if count < LONG_MESSAGE else self.ranks - 1
            self.add_messages(messages, count * (self.ranks - 1) / self.ranks)

    def add_all_reduce(self, count):
        """Every rank gets sums of `count` bytes: reduce-scatter, then all-gather (Rabenseifner)."""
        if self.ranks > 1:
            self.add_messages(2 * doublings(self.ranks), 2 * count * (self.ranks - 1) / self.ranks)


class Run:
    """Start and end, steps, files and memory of a run on so many ranks, of which `working` have rows."""

    def __init__(self, machine, ranks, all_rows, unit):
        units = -(-all_rows // unit)
        self.machine, self.ranks, self.working = machine, ranks, max(1, min(ranks, units))
        self.rows = min(all_rows, -(-units // ranks) * unit)
        self.start, self.step = Cost(machine, ranks), Cost(machine, ranks)
        self.read = self.write = self.memory = 0.0
        self.steps = 0

    def set_files(self, read, written):
        """Bytes. What rank 0 writes comes to it first."""
        files = self.machine.files
        way = files if self.ranks == 1 else link(self.machine, self.ranks)[1]
        self.read, self.write = read / files, written / min(files, way)

    @property
    def seconds(self):
        return self.read + self.start.seconds + self.steps * self.step.seconds + self.write


def link(machine, ranks):
    """Latency and rate between ranks: beyond a node its ranks share the network."""
    if ranks <= machine.ranks_per_node:
        return machine.node_latency, machine.node_network
    return machine.latency, machine.network / machine.ranks_per_node


def doublings(ranks):
    return math.ceil(math.log2(ranks))


def kmeans(machine, ranks, n, d, k, number):
    """Lloyd's iteration that reads all points in each pass, n x d numbers of so many bytes, with k-means++."""
    run = Run(machine, ranks, n, PIECE)
    narrow, pieces = number < 8, 8 * -(-n // PIECE)
    here, labels, products = run.rows * d * number, 8 * run.rows, 2 * run.rows * d * k
    # Points and labels are read, labels written; all ranks add their sums, two words of 64 bits for each number.
    run.step.add_work(here + labels, products, narrow)
    run.step.add_all_reduce(8 * (2 * k * d + 3 * k))
    for _ in range(2):
        run.step.add_all_reduce(3 * 8)
    run.steps = PASSES
    # Moments, added rank after rank, and the labels of the last centres with the inertia, a number for each piece.
    run.start.add_work(2 * here + labels, 4 * run.rows * d + products, narrow)
    if ranks > 1:
        run.start.add_messages(ranks * doublings(ranks), ranks * 16 * d)
    run.start.add_all_gather(pieces)
    trials, sample = 2 + int(math.log(k)), seeding_sample(n, d, k)
    # Distances to the first centre; all ranks then have the sample.
    run.start.add_work(here, 2 * run.rows * d + 2 * sample * d * k * trials, narrow)
    run.start.add_all_gather(pieces)
    run.start.add_all_gather(sample * d * number)
    run.set_files(n * d * number, 4 * n)
    run.memory = kmeans_memory(machine.gpu, run.rows, d, k, number) + pieces
    return run


def seeding_sample(n, d, k):
    """Rows that k-means++ draws centres from (solvers/kmeans/seeding/seeding.cpp)."""
    size = max(1 << 14, min(16 * k, int(2.5 * (n // (2 + int(math.log(k)))))))
    return min(n, size, max(16, (1 << 27) // d))


def kmeans_memory(gpu, n, d, k, number):
    """As solvers/setup/kmeans_plan.cpp has it, with one thread, and without the projections of filters."""
    distance = 8 if number == 8 else 4  # bytes of a copied coordinate
    sample = distance * d * seeding_sample(n, d, k)
    points_and_labels = n * d * number + 4 * n
    if not gpu:
        return points_and_labels + 56 * k * d + 8 * n + 8 * n + sample + sample // distance
    lists = 25 * min(n, 1 << 27)
    return (points_and_labels + 32 * k * d + 88 * k + 12 * n + 2 * sample + 48 * k * d
            + 8 * min(n, 1 << 24) + lists + 2 * n + 8 * k * d)


def lanczos(machine, ranks, n, entries, nev, number):
    """Block Lanczos at level gpu_to_gpu, of a sparse matrix of real numbers of so many bytes.

    A neighbour needs n^(2/3) rows of a block, a plane of a grid: a file tells its pattern only when it is read.
    """
    unit = 256 * -(-n // (MOST_UNITS * 256))
    run = Run(machine, ranks, n, unit)
    units, share, block = -(-n // unit), run.rows / n, min(8, n)
    most_basis = max(min(n, max(2 * nev + 4 * block, nev + 12 * block)), min(n, nev + 6 * block))
    basis, line = most_basis / 2, run.rows * number
    matrix = share * entries * (number + 4) + 8 * run.rows
    # W = A F, its norms, F^H W, and twice W - V (V^H W): half of the basis is full on average.
    run.step.add_work(matrix + 4 * block * line + 4 * basis * line,
                      2 * share * entries * block + 8 * basis * run.rows * block, False)
    neighbours = min(2, run.working - 1)
    halo = round(n ** (2 / 3)) * block * number
    if neighbours > 0:
        run.step.add_messages(1, neighbours * halo)
    for count in (block, block * block, (basis + block) * block, (basis + block) * block):  # gathered from each unit
        run.step.add_all_gather(units * count * number)
    run.steps = STEPS
    # The vectors and their residuals.
    run.start.add_work(matrix + (most_basis + 4 * nev) * line,
                       2 * nev * (share * entries + most_basis * run.rows), False)
    run.set_files(entries * (number + 4) + 8 * n, nev * n * number)
    # Memory by the formulas of solvers/setup/memory_plan.cpp; the matrix in global, then in local numbers of columns.
    held = most_basis + block
    padded = padded_columns(machine.gpu, held, number)
    blocks = share * n * number * (most_basis + 6 * block + 4 * nev) - held * line
    run.memory = (2 if ranks > 1 else 1) * matrix + padded * line + blocks + ((256 << 20) if machine.gpu else 0)
    if ranks > 1:
        run.memory += 2 * neighbours * halo + units * (basis + block) * block * 2 * number
    return run


def padded_columns(gpu, columns, number):
    """Rows of the basis begin with a line of the memory (solvers/eigen/krylov/basis_memory.hpp)."""
    line = (128 if gpu else 64) // number
    lines = -(-columns // line)
    if not gpu and lines % 2 == 0:
        lines += 1
    return lines * line


def grid(machine, ranks, side, nev=20):
    """Block Lanczos for the Laplacian of a cube."""
    return lanczos(machine, ranks, side ** 3, 7 * side ** 3, nev, 8)


def lattice(machine, ranks, x, y, z):
    """Block Lanczos for 20 eigenvalues of a grid in a file, which has no entries beyond its sides."""
    return lanczos(machine, ranks, x * y * z, 7 * x * y * z - 2 * (x * y + y * z + x * z), 20, 8)


# ---- the page -------------------------------------------------------------------------------------------------------

def bytes_text(count):
    units = iter(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))
    unit, amount = next(units), float(int(count))
    if amount < 1024:
        return f"{int(count)} B"
    while amount >= 1023.5 or unit == "B":
        unit, amount = next(units), amount / 1024
    return f"{amount:.{2 if amount < 9.995 else 1 if amount < 99.95 else 0}f} {unit}"


def table(runs):
    """As Markdown; ! marks what a rank does not have the memory for."""
    lines = ["| ranks | with rows | step s | work s | latency s | network s | moves | sends | memory | run s |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for r in runs:
        s = r.step
        seconds = " | ".join(f"{value:.3g}" for value in (s.seconds, s.work, s.latency, s.network))
        mark = "!" if r.memory > r.machine.memory else ""
        lines.append(f"| {r.ranks:,} | {r.working:,} | {seconds} | {bytes_text(s.moved)} | {bytes_text(s.sent)} | "
                     f"{bytes_text(r.memory)}{mark} | {r.seconds:.3g} |")
    return "\n".join(lines)


# Measured steps: (of what, model, sizes, {ranks: seconds of each run}); docs/scaling.md says when and where.
ON_CORES = (("pass of k-means, 10^6", kmeans, (10**6, 16, 64, 4), {1: [0.0254], 2: [0.0126]}),
            ("pass of k-means, 4 10^6", kmeans, (4 * 10**6, 16, 64, 4), {1: [0.07], 2: [0.0401]}),
            ("step of block Lanczos, 64^3", lattice, (64, 64, 64), {1: [0.0659], 2: [0.0329]}),
            ("step of block Lanczos, 96^3", lattice, (96, 96, 96), {1: [0.216], 2: [0.127]}))
ON_GPUS = (("pass of k-means, 2^25 x 16 float32, k = 64", kmeans, (2**25, 16, 64, 4),
            {1: [1.117e-3, 1.049e-3], 2: [0.625e-3, 0.636e-3]}),
           ("twice the points", kmeans, (2**26, 16, 64, 4), {2: [1.141e-3, 1.135e-3]}),
           ("pass of k-means, 2^22 x 128 float32, k = 1000", kmeans, (2**22, 128, 1000, 4),
            {1: [3.446e-3, 3.511e-3], 2: [1.914e-3, 1.927e-3]}),
           ("twice the points", kmeans, (2**23, 128, 1000, 4), {2: [3.494e-3, 3.514e-3]}),
           ("step of block Lanczos, 128^3", lattice, (128, 128, 128),
            {1: [2.059e-3, 2.079e-3], 2: [1.313e-3, 1.262e-3]}),
           ("256 x 128 x 128", lattice, (256, 128, 128), {2: [2.167e-3, 2.208e-3]}))


def beside_measured(machine, ranks_are, unit, scale, cases):
    lines = [f"| | {ranks_are} | predicted {unit} | measured {unit} | measured / predicted |", "|---|---|---|---|---|"]
    for what, model, sizes, runs in cases:
        for ranks, measured in runs.items():
            seconds = model(machine, ranks, *sizes).step.seconds
            times = ", ".join(f"{scale * value:g}" for value in measured)
            ratios = ", ".join(f"{value / seconds:.2f}" for value in measured)
            lines.append(f"| {what} | {ranks} | {scale * seconds:.3g} | {times} | {ratios} |".replace("|  |", "| |"))
            what = ""
    return "\n".join(lines)


def tables():
    """Those of the page, in its order."""
    gpus, cpus, points = MACHINES["h100-cluster"], MACHINES["cpu-cluster"], 10**12
    yield table(kmeans(gpus, ranks, points, 16, 64, 2) for ranks in (8, 64, 512, 4096))
    yield table(grid(gpus, ranks, 940) for ranks in (1, 8, 32))
    yield table(grid(cpus, ranks, 1600) for ranks in (1, 8, 32))
    yield beside_measured(MACHINES["laptop"], "ranks", "s", 1, ON_CORES)
    yield beside_measured(MACHINES["h100-pair"], "GPUs", "ms", 1e3, ON_GPUS)


def phrases():
    """Figures in the sentences of the page."""
    gpus = MACHINES["h100-cluster"]
    run = kmeans(gpus, 4096, 10**12, 16, 64, 2)
    yield f"exchange {run.step.sent / 1024:.0f} KiB a pass"
    yield f"{run.read:.0f} s to read 32 TB at 100 GB/s"
    yield f"{run.write:.0f} s in which rank 0 writes 4 TB of labels"
    yield f"{bytes_text(8 * -(-10**12 // PIECE))} at 10^12 points"
    yield f"{4096 * doublings(4096) * gpus.latency:.2g} s at P = 4096"
    yield f"need {bytes_text(grid(gpus, 4096, 4096).memory)} in each of 24 ranks"
    fits = [kmeans(gpus, 4096, n * 10**12, 16, 64, 2).memory <= gpus.memory for n in (5, 10)]
    yield f"5 10^12 points {'still' if fits[0] else 'do not'} fit into the memory of 4096 GPUs"
    yield f"10^13 {'do' if fits[1] else 'do not'}"


def main():
    models = {"kmeans": (kmeans, 4), "lanczos": (lanczos, 4), "grid": (grid, 1)}
    if len(sys.argv) == 1:
        print("\n\n".join([*tables(), *phrases()]))
    elif sys.argv[1] in models and len(sys.argv) > 3 + models[sys.argv[1]][1] and sys.argv[2] in MACHINES:
        model, sizes = models[sys.argv[1]]
        numbers = [int(float(word)) for word in sys.argv[3:]]
        print(table(model(MACHINES[sys.argv[2]], ranks, *numbers[:sizes]) for ranks in numbers[sizes:]))
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main()
