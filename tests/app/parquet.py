#!/usr/bin/env python3
"""docs/parquet.py turns Parquet and Arrow files into .npy that tskmeans reads, and respects the umask.

Run as: parquet.py TSKMEANS SCRIPT. Exit status 77 where the module pyarrow is not installed.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet
except ImportError:
    print("left out: the Python modules numpy and pyarrow are not both installed")
    sys.exit(77)

tskmeans, script = (os.path.abspath(argument) for argument in sys.argv[1:3])


def run(code, *words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode != code:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}, expected {code}: {done.stderr}")
    return done.stdout + done.stderr


def expect(condition, what):
    if not condition:
        sys.exit(what)


def convert(code, *words):
    return run(code, sys.executable, script, *words)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 3))
    table = pa.table({"a": points[:, 0], "b": points[:, 1], "word": ["x"] * 500, "c": points[:, 2]})
    pa.parquet.write_table(table, "t.parquet", row_group_size=100)
    pa.feather.write_feather(table, "t.feather")
    for name in ("t.parquet", "t.feather"):
        said = run(4, tskmeans, name, "-k", "3")
        expect("parquet.py" in said and "turns it into .npy" in said, said)
        os.umask(0o027)
        expect("left out: word" in convert(0, name, "t.npy"), "the column of words is not named")
        expect(np.array_equal(np.load("t.npy"), points), f"{name} gave other numbers")
        expect(os.stat("t.npy").st_mode & 0o777 == 0o640, "the mode is not that of the umask")
        expect("500 points x 3 features" in run(0, tskmeans, "t.npy", "-k", "3"), "tskmeans read something else")
        os.chmod("t.npy", 0o604)
        convert(0, name, "t.npy", "--columns", "c,a", "--dtype", "float32")
        expect(os.stat("t.npy").st_mode & 0o777 == 0o604, "the mode of the file that was replaced is lost")
        expect(np.array_equal(np.load("t.npy"), points[:, [2, 0]].astype(np.float32)), f"{name}: other columns")
        os.unlink("t.npy")
    lists = [[1.0, 2.0], None, [3.0, None], [4.0, 5.0]]
    nan = np.nan
    wanted = np.array([[7, 1, 1, 2], [nan, 0, nan, nan], [9, nan, 3, nan], [10, 1, 4, 5]])
    holes = {"n": pa.array([7, None, 9, 10]), "yes": pa.array([True, False, None, True])}
    for kind in (pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.float64(), 2)):
        table = pa.table({**holes, "v": pa.array(lists, kind), "words": pa.array([["x"]] * 4)})
        pa.parquet.write_table(table, "l.parquet", row_group_size=2)
        pa.feather.write_feather(table, "l.feather", chunksize=3)
        for name in ("l.parquet", "l.feather"):
            expect("left out: words" in convert(0, name, "l.npy"), "a column of lists of words is not named")
            found = np.load("l.npy")
            expect(np.array_equal(found, wanted, equal_nan=True), f"{name}, {kind}: {found}")
    pa.parquet.write_table(pa.table({"v": [[1.0], [1.0, 2.0]]}), "uneven.parquet")
    pa.parquet.write_table(pa.table({"v": pa.array([None], pa.list_(pa.float64()))}), "empty.parquet")
    before = sorted(os.listdir("."))
    said = convert(1, "uneven.parquet", "u.npy")
    expect("column 'v' has 2 numbers in row 1 (counted from 0), 1 in the first list" in said, said)
    expect("column 'v' holds no list" in convert(1, "empty.parquet", "u.npy"), "a column without a list passes")
    expect(sorted(os.listdir(".")) == before, "a file is left behind")
print("parquet and feather")
