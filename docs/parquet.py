#!/usr/bin/env python3
"""Turns the numeric columns of a Parquet, Arrow or Feather file into .npy, a piece of the rows at a time.

    python3 parquet.py table.parquet table.npy [--columns a,b] [--dtype float64|float32]

Needs pyarrow (pip install pyarrow). A column of lists becomes as many columns as its lists have numbers, which must be
equally many in all rows. Missing values become NaN. Columns that hold no numbers are left out and named.
"""
import argparse
import os
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def pieces(path):
    """(schema, number of rows, iterator over record batches)"""
    with open(path, "rb") as file:
        start = file.read(6)
    if start.startswith(b"PAR1"):
        table = pq.ParquetFile(path)
        return table.schema_arrow, table.metadata.num_rows, lambda names: table.iter_batches(columns=names)
    if start.startswith(b"FEA1"):
        sys.exit(f"{path} is a Feather file of version 1: write it again with pyarrow.feather.write_feather")
    if not start.startswith(b"ARROW1"):
        sys.exit(f"{path} is neither a Parquet nor an Arrow file")
    source = pa.ipc.open_file(pa.memory_map(path))
    each = range(source.num_record_batches)
    rows = sum(source.get_batch(i).num_rows for i in each)
    return source.schema, rows, lambda names: (source.get_batch(i).select(names) for i in each)


def is_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def numeric(kind):
    kind = kind.value_type if is_list(kind) else kind
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)


def width_of(path, name, kind, batches):
    """Numbers in each row of a column: those of its first list."""
    if not is_list(kind):
        return 1
    if pa.types.is_fixed_size_list(kind):
        return kind.list_size
    for batch in batches([name]):
        lengths = pc.list_value_length(batch.column(0)).drop_null()
        if len(lengths):
            return lengths[0].as_py()
    sys.exit(f"{path}: column '{name}' holds no list")


def numbers(column):
    column = column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column
    return column.to_numpy(zero_copy_only=False)


def fill(piece, column, path, name, first):
    """The numbers of a column of a batch, whose row 0 is row `first` of the table."""
    if not is_list(column.type):
        piece[:, 0] = numbers(column)
        return
    there = column.is_valid().to_numpy(zero_copy_only=False)
    lengths = pc.list_value_length(column).fill_null(piece.shape[1]).to_numpy(zero_copy_only=False)
    if (lengths != piece.shape[1]).any():
        row = int((lengths != piece.shape[1]).argmax())
        sys.exit(f"{path}: column '{name}' has {lengths[row]} numbers in row {first + row} (counted from 0), "
                 f"{piece.shape[1]} in the first list")
    piece[:] = np.nan
    piece[there] = numbers(column.flatten()).reshape(-1, piece.shape[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--columns", help="names, separated by commas; default all numeric ones")
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
    o = parser.parse_args()
    if not o.output.endswith(".npy"):
        sys.exit(f"{o.output}: the output is .npy and its name must end so")
    schema, rows, batches = pieces(o.input)
    names = o.columns.split(",") if o.columns else [f.name for f in schema if numeric(f.type)]
    for name in names:
        if schema.get_field_index(name) < 0:
            sys.exit(f"{o.input} has no column '{name}', or several of this name")
        if not numeric(schema.field(name).type):
            sys.exit(f"{o.input}: column '{name}' holds {schema.field(name).type}, not numbers")
    if not names:
        sys.exit(f"{o.input} has no column of numbers")
    others = [f.name for f in schema if f.name not in names]
    if others:
        print("left out:", ", ".join(others), file=sys.stderr)

    ends = np.cumsum([width_of(o.input, name, schema.field(name).type, batches) for name in names])
    folder = os.path.dirname(os.path.abspath(o.output))
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".npy", delete=False) as file:
        temporary = file.name
        try:
            header = {"descr": np.dtype(o.dtype).str, "fortran_order": False, "shape": (rows, int(ends[-1]))}
            np.lib.format.write_array_header_1_0(file, header)
            first = 0
            for batch in batches(names):
                piece = np.empty((batch.num_rows, ends[-1]), o.dtype)
                for name, part in zip(names, np.split(piece, ends[:-1], axis=1)):
                    fill(part, batch.column(batch.schema.get_field_index(name)), o.input, name, first)
                file.write(piece.tobytes())
                first += batch.num_rows
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            os.unlink(temporary)
            raise
    try:
        mode = os.stat(o.output).st_mode & 0o7777  # of the file that is replaced
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(temporary, mode)
    os.replace(temporary, o.output)
    print(f"{o.output}: {rows} x {ends[-1]} {o.dtype}")


if __name__ == "__main__":
    main()
