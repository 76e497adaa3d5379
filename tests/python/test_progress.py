"""What long calls tell while they run: callbacks, and the line of verbose=1."""

import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp

import tallskinny as ts
from tallskinny import _progress

line = sp.diags([2.0, -1, -1], offsets=[0, 1, -1], shape=(40, 40))
one = sp.eye(40)
cube = (sp.kron(sp.kron(line, one), one) + sp.kron(sp.kron(one, line), one) + sp.kron(sp.kron(one, one), line)).tocsr()
points = np.random.default_rng(0).random((200_000, 8))


def solve(**how):
    """Eigenvalues that take seconds, unless the callback ends the search."""
    return ts.eigsh(cube, k=8, which="LA", tol=1e-10, method="lanczos", **how)


def cluster(**how):
    return ts.KMeans(50, init="random", n_init=1000, random_state=0, tol=0, **how).fit(points)


@pytest.mark.parametrize("call", [solve, cluster])
def test_callback_gets_a_dict_at_most_20_times_a_second(call):
    told, begin = [], time.monotonic()

    def hear(now):
        told.append(now)
        return len(told) == 5

    try:
        call(callback=hear)
    except ts.NoConvergence:
        pass
    assert len(told) == 5  # a true answer stops
    assert all(isinstance(now, dict) and "iteration" in now for now in told)
    assert time.monotonic() - begin >= 4 * 0.05


@pytest.mark.parametrize("call", [solve, cluster])
def test_line_without_tqdm_is_written_over(call, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    begin, calls = time.monotonic(), []

    def hear(now):
        calls.append(now)
        return len(calls) == 12

    try:
        call(verbose=1, callback=hear)
    except ts.NoConvergence:
        pass
    took = time.monotonic() - begin
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("\r") and err.endswith("\n") and err.count("\n") == 1
    assert 2 <= err.count("\r") <= 10 * took + 2
    assert "pairs" in err if call is solve else "run 1 of 1000, " in err


def test_line_of_tqdm(capsys):
    pytest.importorskip("tqdm")
    cluster(verbose=1, callback=lambda now: now["iteration"] > 3)
    assert "KMeans" in capsys.readouterr().err


def test_line_ends_where_a_callback_raises(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ZeroDivisionError):
        cluster(verbose=1, callback=lambda now: 1 / 0)
    assert capsys.readouterr().err.endswith("\n")


def test_nothing_is_printed_without_verbose(capsys):
    ts.KMeans(4, random_state=0).fit(points[:1000])
    assert capsys.readouterr() == ("", "")


def test_shorter_text_leaves_nothing_of_a_longer_one(capsys):
    shown = _progress._Line("eigsh")
    shown.set_postfix_str("a long text")
    shown.set_postfix_str("short")
    shown.close()
    _, first, second = capsys.readouterr().err[:-1].split("\r")
    assert len(first) == len(second)
