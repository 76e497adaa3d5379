#!/usr/bin/env python3
"""What the programs print with --json is what app/schemas/ says, in runs of many kinds.

Run as: schemas.py BIN SCHEMAS DATA. Exit status 77 where the module jsonschema is not installed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("left out: the Python module jsonschema is not installed")
    sys.exit(77)

programs, schemas, data = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
checks = {}
for file in schemas.glob("*.json"):
    schema = json.loads(file.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    checks["tallskinny/" + file.stem] = jsonschema.Draft202012Validator(schema)
failed, seen = [], set()


def nearest_error(error):
    """Of the kinds of run that a schema tells apart, the one with the fewest complaints."""
    if not error.context:
        return error.message
    kinds = {}
    for part in error.context:
        kinds.setdefault(part.schema_path[0], []).append(part.message)
    return "; ".join(min(kinds.values(), key=len))


def expect(code, *words):
    """Runs a program in the present folder; with --json what it prints must fit its schema."""
    command = [str(programs / words[0]), *map(str, words[1:])]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    said = " ".join(map(str, words))
    if run.returncode != code:
        failed.append(f"{said}: exit status {run.returncode}, expected {code}: {run.stderr.strip()}")
        return
    if "--json" not in words:
        return
    result = json.loads(run.stdout)
    check = checks.get(result.get("schema"))
    if check is None:
        failed.append(f"{said}: there is no schema {result.get('schema')}")
        return
    seen.add(result["schema"])
    failed.extend(f"{said}: {nearest_error(error)}" for error in check.iter_errors(result))
    # A member that no schema knows must not pass.
    if check.is_valid({**result, "unheard_of": {}}):
        failed.append(f"{said}: a member that {result['schema']} does not know passes")


def solve(code, *words):
    expect(code, "tssolve", *words, "--json", "-q")


def cluster(code, *words):
    expect(code, "tskmeans", *words, "--json", "-q")


def generate():
    for name, *words in (
        ("lap.h5", "lap3d", "--n", 8),
        ("line.h5", "lap1d", "--n", 2000),
        ("flow.h5", "circulant", "--n", 700),
        ("tall.h5", "lauchli", "--n", 60),
        ("pencil.h5", "mikota", "--n", 120),
        ("points.h5", "blobs", "--n", 3000, "--cols", 6, "--groups", 5),
    ):
        expect(0, "tsdata", "gen", *words, "-o", name, "--json", "-q")
    expect(0, "tsdata", "gen", "lap3d", "--n", 8, "-o", "not.h5", "--dry-run", "--json")
    expect(0, "tsdata", "gen", "uniform", "--n", 100, "--dry-run", "-o", "not.h5", "--json")
    expect(0, "tsdata", "convert", "lap.h5", "copy.h5", "--json", "-q")
    for name in ("lap.h5", "points.h5", "pencil.h5", "copy.h5", "flow.h5"):
        expect(0, "tsdata", "info", name, "--json", "-q")
        expect(0, "tsdata", "info", name, "--quick", "--json", "-q")


def eigenvalues():
    solve(0, "lap.h5", "-k", 4, "--which", "SA")
    solve(0, "lap.h5", "-k", 4, "--which", "LA", "--method", "lanczos", "--profile")
    solve(3, "line.h5", "-k", 4, "--which", "LA", "--method", "lanczos", "--max-iter", 2)
    solve(0, "lap.h5", "-k", 3, "--which", "SA", "--method", "lobpcg")
    solve(0, "lap.h5", "-k", 3, "--which", "SA", "--method", "davidson")
    solve(0, "lap.h5", "-k", 3, "--which", "SA", "--method", "dense")
    solve(0, "lap.h5", "-k", 3, "--precision", "mixed", "--method", "lanczos")
    solve(0, "lap.h5", "-k", 3, "--sigma", 1.5)
    solve(0, "lap.h5", "--interval", "0.5:1.5")
    solve(0, "lap.h5", "--threshold", 1, "--which", "SA")
    solve(0, "lap.h5", "-k", 3, "--reorder", "rcm", "--which", "LA", "--method", "lanczos")
    solve(0, "pencil.h5:/K", "--mass", "pencil.h5:/M", "-k", 3, "--sigma", 0)
    solve(0, "flow.h5", "--general", "-k", 4, "--which", "LR")
    solve(0, "flow.h5", "--general", "-k", 4, "--sigma", "0.1+2i")
    solve(0, "points.h5:/features", "--svd", "--centre", "-k", 3)
    solve(0, "tall.h5", "--svd", "--which", "SM", "-k", 3)
    plans = (("-k", 4), ("--sigma", 1.5), ("--interval", "0.5:1.5"), ("--method", "dense"), ("--reorder", "rcm"))
    for words in plans:
        solve(0, "lap.h5", *words, "--dry-run")


def clusters():
    points = "points.h5:/features"
    cluster(0, points, "-k", 5, "-o", "result.h5", "--verify", "--measures")
    cluster(3, points, "-k", 40, "--init", "random", "--max-iter", 1)
    cluster(0, points, "-k", "3:6", "--measures")
    cluster(0, points, "-k", 5, "--n-init", 3, "--metric", "cosine")
    for algorithm in ("mini-batch", "bisecting", "balanced", "two-level"):
        cluster(0, points, "-k", 20, "--algorithm", algorithm)
    cluster(0, points, "-k", 20, "--sample", 50)
    cluster(0, points, "-k", 5, "--init", "k-means||", "--precision", "fast", "--verify-sample", 50)
    cluster(0, points, "--predict", "result.h5", "--measures")
    pathlib.Path("table.csv").write_text("a,b,kind\n1,2,x\n,4,x\n3,5,y\n9,8,y\n")
    expect(0, "tsdata", "convert", "table.csv", "table.h5", "--drop", "kind", "--missing", "mean", "--json", "-q")
    solve(0, "table.csv", "--svd", "-k", 2, "--drop", "kind", "--missing", "drop", "--values-out", "values.npy")
    cluster(0, "table.csv", "-k", 2, "--labels-column", "kind", "--missing", "drop", "--labels-out", "labels.csv")
    cluster(0, "table.csv", "-k", 2, "--columns", "0-1", "--missing", "mean", "--centers-out", "centers.npy")
    cluster(0, "table.csv", "--drop", "kind", "--missing", "drop", "--predict", "centers.npy")
    cluster(0, points, "-k", 5, "--dry-run")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    generate()
    eigenvalues()
    clusters()
    if (programs / "tsbench").exists():
        expect(0, "tsbench", "plan", "tsmttsm", "float64", "1e6", 8, 8, "--json")
    else:
        seen.add("tallskinny/tsbench-plan")
failed.extend(f"no run has printed {name}" for name in sorted(set(checks) - seen))
print("\n".join(failed) or f"{len(checks)} schemas")
sys.exit(1 if failed else 0)
