"""Annotations, as mypy reads them: of the examples of all pages, and of what they must find wrong."""

import ast
import inspect
import re
import subprocess
import sys

import pytest
from test_pages import blocks_of, pages, root

import tallskinny as ts

pytest.importorskip("mypy")

probe = """import numpy as np
import tallskinny as ts

x = np.eye(3)
model = ts.KMeans(3, context=ts.Context(threads=1)).fit(x)
reveal_type(model)
reveal_type(model.labels_)
reveal_type(ts.MiniBatchKMeans().partial_fit(x).inertia_)
reveal_type(ts.gram(x))
reveal_type(ts.eigsh(x))
reveal_type(ts.svds(x).complete)
reveal_type(ts.info("a.h5")[0]["shape"])
ts.KMeans(n_cluster=3)
ts.Context(threads="x")
ts.eigs(x, k="x")
ts.no_such_name
"""


def test_annotations_beside_a_module_are_of_its_functions():
    stub = ast.parse((root / "app/python/tallskinny/_eigen.pyi").read_text())
    told = [node for node in stub.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    assert [node.name for node in told] == ["eigsh", "eigsh", "eigs", "eigs"]
    for node in told:
        named = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
        assert named == list(inspect.signature(getattr(ts, node.name)).parameters)


def strictly(folder, *files):
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder.parent / "mypy", *files],
                         cwd=folder, capture_output=True, text=True)
    assert run.stderr == ""
    return run.stdout


def test_examples_of_pages(tmp_path):
    files = []
    for page in pages:
        sources = [source for _, source in blocks_of(page.read_text())]
        if sources:
            files.append(re.sub(r"\W", "_", str(page.relative_to(root))[:-3]) + ".py")
            (tmp_path / files[-1]).write_text("\n\n".join(sources) + "\n")
    assert len(files) >= 6
    said = strictly(tmp_path, *files)
    assert said == f"Success: no issues found in {len(files)} source files\n", said


def test_types_are_known(tmp_path):
    (tmp_path / "probe.py").write_text(probe)
    said = strictly(tmp_path, "probe.py")
    assert re.findall('Revealed type is "([^"\\[]*)', said) == [
        "tallskinny._kmeans.KMeans", "numpy.ndarray", "float", "numpy.ndarray", "tallskinny._result.Result", "bool",
        "Any"]
    assert re.findall(r"probe.py:(\d+): error", said) == ["13", "14", "15", "16"]
