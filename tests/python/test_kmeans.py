"""Clusters against scikit-learn, its rules for estimators, Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import tallskinny as ts

models = [ts.KMeans, ts.MiniBatchKMeans, ts.BisectingKMeans]


def as_scikit_learn_expects(_):
    """What scikit-learn's own models of these names are excused from: random draws go by the number of a row."""
    why = "sample_weight is not equivalent to removing/repeating samples."
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


@parametrize_with_checks([m() for m in models], expected_failed_checks=as_scikit_learn_expects)
def test_rules_of_estimators(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_as_scikit_learn(dtype):
    X, _ = make_blobs(2000, 5, centers=8, random_state=0)
    X = X.astype(dtype)
    start = X[:8]
    ours = ts.KMeans(8, init=start, tol=0).fit(X)
    theirs = sklearn.cluster.KMeans(8, init=start, n_init=1, tol=0).fit(X)
    assert (ours.labels_ == theirs.labels_).all()
    assert ours.cluster_centers_.dtype == dtype
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-5)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours.score(X), -ours.inertia_, rtol=1e-5)


@pytest.mark.parametrize("model", models)
def test_finds_blobs_dense_and_sparse(model):
    X, truth = make_blobs(1500, 4, centers=5, cluster_std=0.3, random_state=1)
    found = model(5, random_state=0).fit(X)
    assert adjusted_rand_score(truth, found.labels_) > 0.99
    assert (found.predict(X) == found.labels_).all()
    sparse = model(5, random_state=0).fit(sp.csr_array(X))
    assert adjusted_rand_score(truth, sparse.labels_) > 0.99


def test_random_state_and_weights():
    X, _ = make_blobs(500, 3, random_state=2)
    a, b = (ts.KMeans(4, random_state=7).fit(X) for _ in range(2))
    assert (a.labels_ == b.labels_).all()
    w = np.zeros(500)
    w[:250] = 1
    half = ts.KMeans(3, init=X[:3]).fit(X, sample_weight=w)
    only = ts.KMeans(3, init=X[:3]).fit(X[:250])
    np.testing.assert_allclose(half.inertia_, only.inertia_)


def test_partial_fit():
    X, truth = make_blobs(3000, 4, centers=5, cluster_std=0.3, random_state=1)
    model = ts.MiniBatchKMeans(5, random_state=0)
    for begin in range(0, 3000, 500):
        model.partial_fit(X[begin:begin + 500])
    assert model.n_steps_ == 6
    assert adjusted_rand_score(truth, model.predict(X)) > 0.99


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(np.random.default_rng(0).random((50, 2)), columns=["x", "y"])
    assert list(ts.KMeans(2).fit(table).feature_names_in_) == ["x", "y"]


def test_callback_stops_and_raises():
    X = np.random.default_rng(0).random((200_000, 8))
    seen = []

    def fail(told):
        seen.append(told)
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        ts.KMeans(50, callback=fail, random_state=0, tol=0).fit(X)
    assert {"iteration", "changed", "clusters"} <= seen[0].keys()


def test_errors():
    X = np.ones((4, 2))
    with pytest.raises(ValueError, match="n_samples=4 should be >= n_clusters=5"):
        ts.KMeans(5).fit(X)
    with pytest.raises(ts.InvalidArgument, match="init='best' is none of 'k-means"):
        ts.KMeans(2, init="best").fit(X)
    with pytest.raises(ValueError, match="number of features"):
        ts.KMeans(2, init=np.ones((2, 3))).fit(X)


endless = """
import signal, numpy as np, tallskinny as ts
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background has switched off
X = np.random.default_rng(0).random((100_000, 8))
def told(_):
    print("running", flush=True)
print("ready", flush=True)
try:
    ts.KMeans(200, n_init=500, tol=0, max_iter=100000, init="random", random_state=0, callback=told).fit(X)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_within_a_second():
    run = subprocess.Popen([sys.executable, "-c", endless], stdout=subprocess.PIPE, text=True)
    while run.stdout.readline() != "running\n":
        assert run.poll() is None
    begin = time.monotonic()
    os.kill(run.pid, signal.SIGINT)
    rest, _ = run.communicate(timeout=60)
    took = time.monotonic() - begin
    assert rest.endswith("interrupted\n")
    assert took < 3, took  # a second, and what the process needs to end
