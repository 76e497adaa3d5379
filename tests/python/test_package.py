"""The package as other tools see it: completion, pickle, joblib, threadpoolctl."""

import pickle

import pytest
import scipy.sparse as sp

import tallskinny as ts


def test_dir_has_all_names():
    assert set(ts.__all__) <= set(dir(ts)) and {"KMeans", "__version__"} <= set(dir(ts))


def test_contexts_are_pickled():
    again = pickle.loads(pickle.dumps(ts.Context(threads=3, determinism="gpu_to_gpu")))
    assert repr(again) == "Context(threads=3, device=None, determinism='gpu_to_gpu')"
    assert pickle.loads(pickle.dumps(ts.Context())).threads == ts.Context().threads


def without_scipy():
    raise ImportError("no SciPy")


@pytest.mark.parametrize("installed", [True, False])
def test_no_convergence_is_pickled(installed, monkeypatch):
    if not installed:
        monkeypatch.setattr("tallskinny._errors._class_of_both", without_scipy)
    a = sp.diags([2.0, -1, -1], offsets=[0, 1, -1], shape=(3000, 3000), format="csr")
    with pytest.raises(ts.NoConvergence) as raised:
        ts.eigsh(a, k=6, which="SA", maxiter=1, method="lanczos")
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is type(raised.value) and str(again) == str(raised.value)
    assert (again.result[0] == raised.value.result[0]).all() and again.result.reason == raised.value.result.reason
    assert again.eigenvectors.shape == raised.value.eigenvectors.shape
    assert str(pickle.loads(pickle.dumps(ts.BadInput("a sentence")))) == "a sentence"


def test_limits_of_threadpoolctl():
    threadpoolctl = pytest.importorskip("threadpoolctl", minversion="3.2")
    four = ts.Context(threads=4)
    usual = ts.Context().threads
    for limits in (1, {"openmp": 1}):
        with threadpoolctl.threadpool_limits(limits):
            assert (ts.Context().threads, four.threads, ts.default_context().threads) == (1, 1, 1)
    with threadpoolctl.threadpool_limits(3):
        assert (ts.Context().threads, four.threads, ts.Context(threads=2).threads) == (3, 3, 2)
    with threadpoolctl.threadpool_limits({"blas": 1}):
        assert (ts.Context().threads, four.threads) == (usual, 4)
    assert (ts.Context().threads, four.threads) == (usual, 4)
    info = [found for found in threadpoolctl.threadpool_info() if found["internal_api"] == "tallskinny"]
    assert [found["num_threads"] for found in info] == [usual]
