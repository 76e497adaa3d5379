"""Batches of k-means problems beside models of each."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import tallskinny as ts

rng = np.random.default_rng(0)
X = rng.normal(size=(5, 400, 6))


def same(found, b, model):
    assert (found.labels[b] == model.labels_).all()
    assert (found.centers[b] == model.cluster_centers_).all()
    assert found.inertia[b] == model.inertia_ and found.n_iter[b] == model.n_iter_


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_same_as_models(dtype, init):
    x = X.astype(dtype)
    found = ts.kmeans_batch(x, 9, init=init, random_state=4)
    assert found.labels.shape == (5, 400) and found.labels.dtype == np.int32
    assert found.centers.shape == (5, 9, 6)
    assert found.centers.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert found.inertia.shape == found.n_iter.shape == (5,)
    for b in range(5):
        same(found, b, ts.KMeans(9, init=init, n_init=1, random_state=4 + b).fit(x[b]))


def test_restarts_as_models_make_them():
    found = ts.kmeans_batch(X, 9, n_init=0, random_state=4)
    for b in range(5):
        same(found, b, ts.KMeans(9, random_state=4 + b).fit(X[b]))


def test_same_rows_with_several_seeds():
    found = ts.kmeans_batch(X[0], 8, batch=3, random_state=7, n_init=2, metric="cosine", max_iter=20)
    for b in range(3):
        same(found, b, ts.KMeans(8, random_state=7 + b, n_init=2, metric="cosine", max_iter=20).fit(X[0]))


def test_columns_of_rows_and_any_layout():
    parts = X[0].reshape(400, 3, 2).transpose(1, 0, 2)  # a product quantiser's: no copy of the whole
    found = ts.kmeans_batch(parts, 16, random_state=0)
    for b in range(3):
        same(found, b, ts.KMeans(16, n_init=1, random_state=b).fit(np.ascontiguousarray(parts[b])))
    whole = ts.kmeans_batch(np.arange(24).reshape(2, 6, 2), 2, random_state=0)
    assert whole.centers.dtype == np.float64 and (whole.inertia == whole.inertia[0]).all()


def test_weights_and_first_centres():
    weights = rng.random((5, 400))
    starts = X[:, :4].copy()
    found = ts.kmeans_batch(X, 4, init=starts, sample_weight=weights)
    alike = ts.kmeans_batch(X, 4, init=starts[0], sample_weight=weights[0])
    for b in range(5):
        same(found, b, ts.KMeans(4, init=starts[b]).fit(X[b], sample_weight=weights[b]))
        same(alike, b, ts.KMeans(4, init=starts[0]).fit(X[b], sample_weight=weights[0]))


def test_refusals():
    for x, batch in [(X[0], None), (X[0, 0], 2), (X, 4), (X[:0], None), (X[0], 0), (X[0], True)]:
        with pytest.raises(ValueError):
            ts.kmeans_batch(x, 2, batch=batch)
    bad = X.copy()
    bad[3, 17, 2] = np.nan
    with pytest.raises(ValueError, match="problem 3 of the batch.*row 17"):
        ts.kmeans_batch(bad, 2)
    with pytest.raises(ValueError, match="larger than the number of points"):
        ts.kmeans_batch(X, 401)
    with pytest.raises(ValueError, match="init"):
        ts.kmeans_batch(X, 2, init=np.zeros((4, 2, 6)))
    with pytest.raises(ValueError, match="init"):
        ts.kmeans_batch(X, 2, init="best")
    with pytest.raises(ValueError, match="sample_weight"):
        ts.kmeans_batch(X, 2, sample_weight=np.ones(399))


def test_warns_of_copies():
    with pytest.warns(ConvergenceWarning, match="1 of 2 problems"):
        ts.kmeans_batch(np.array([[[0.0], [0], [0]], [[0], [1], [2]]]), 2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ts.kmeans_batch(X, 3, random_state=0)


def test_callback_stops():
    told = []

    def stop(now):
        told.append(now)
        return True

    with pytest.raises(ts.Interrupted):
        ts.kmeans_batch(np.tile(X, (20, 10, 1)), 64, callback=stop, tol=0)
    assert len(told) == 1 and told[0]["runs"] == 100

    def fail(now):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ts.kmeans_batch(np.tile(X, (20, 10, 1)), 64, callback=fail, tol=0)
