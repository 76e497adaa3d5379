"""What the comparisons of k-means on a GPU share: their options, points, and runs of tskmeans."""
import argparse
import json
import subprocess
import sys


def parse_options(text, shapes, folder="/dev/shm", **more):
    """--tskmeans, --shapes, --folder, and an option for each of `more`: its default, or default and help."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tskmeans", required=True)
    parser.add_argument("--shapes", default=shapes, help="points x features x clusters, comma-separated")
    for name, value in more.items():
        default, help_text = value if isinstance(value, tuple) else (value, None)
        parser.add_argument("--" + name, type=type(default), default=default, help=help_text)
    parser.add_argument("--folder", default=folder, help="where the points are written: %(default)s")
    return parser.parse_args()


def shapes_of(options):
    return (tuple(map(int, shape.split("x"))) for shape in options.shapes.split(","))


def cases_of(options):
    """(rows, columns, clusters, type, data) of every case."""
    return ((*shape, name, kind) for shape in shapes_of(options)
            for name in options.types.split(",") for kind in options.data.split(","))


def points(n, d, centres, kind, dtype):
    """Normal points on the GPU, or "blobs" of standard deviation 1 around `centres` centres in a box of side 6, or
    "embeddings" of unit length, around 3000 centres, whose standard deviations fall like 1 / sqrt(j) along hidden
    axes."""
    import torch
    torch.manual_seed(1)
    if kind == "embeddings":
        scale = torch.arange(1, d + 1, device="cuda") ** -.5
        turn = torch.linalg.qr(torch.randn(d, d, device="cuda"))[0]
        middles = torch.randn(3000, d, device="cuda") * scale
        x = torch.empty(n, d, device="cuda", dtype=dtype)
        for part in x.split(1 << 18):
            rows = middles[torch.randint(0, 3000, (len(part),), device="cuda")]
            part[:] = torch.nn.functional.normalize((rows + .8 * torch.randn_like(rows) * scale) @ turn)
        return x
    x = torch.randn(n, d, device="cuda", dtype=dtype)
    if kind == "blobs":
        box = 6 * torch.rand(centres, d, device="cuda", dtype=dtype) - 3
        for i in range(0, n, 1 << 20):
            x[i:i + (1 << 20)] += box[torch.randint(0, centres, (min(n, i + (1 << 20)) - i,), device="cuda")]
    return x


def run_tskmeans(*command):
    """What --json says; exit statuses beside converged and not converged end the script."""
    done = subprocess.run([*map(str, command), "--tol", "0", "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def steps_of(*command, log):
    """The lines of --log."""
    run_tskmeans(*command, "--device", "cuda", "--log", log)
    with open(log, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
