"""Clusters against scikit-learn, its rules for estimators, Ctrl-C."""

import copy
import importlib
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.cluster
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin, clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import tallskinny as ts

models = [ts.KMeans, ts.MiniBatchKMeans, ts.BisectingKMeans]


def excused(check):
    """What scikit-learn's own models of these names are excused from: random draws go by the number of a row."""
    return "sample_weight" in str(check) and ("equivalence" in str(check) or "invariance" in str(check))


@parametrize_with_checks([m() for m in models])
def test_rules_of_estimators(estimator, check):
    if excused(check):
        pytest.xfail("sample_weight is not equivalent to removing or repeating samples")
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


@pytest.mark.parametrize("model", models)
def test_an_estimator_with_names_of_features(model):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(rng.random((50, 2)) * [1, 9], columns=["x", "y"])
    found = model(2, random_state=0).fit(table)
    assert isinstance(found, (BaseEstimator, ClusterMixin)) and isinstance(found, TransformerMixin)
    assert list(found.feature_names_in_) == ["x", "y"] and "n_clusters=2" in repr(found)
    for call in (found.predict, found.transform, found.score):
        with pytest.raises(ValueError, match="feature names should match"):
            call(table[["y", "x"]])
    named = found.set_output(transform="pandas").transform(table)
    assert list(named.columns) == [model.__name__.lower() + number for number in "01"]


without = """
import sys
sys.modules["sklearn"] = None
import numpy as np, tallskinny as ts
class Table:
    def __init__(self, a, columns):
        self.a, self.columns, self.shape = a, columns, a.shape
    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.a, dtype)
x = np.random.default_rng(0).random((50, 2))
model = ts.KMeans(2, random_state=0).fit(Table(x, ["x", "y"]))
assert repr(model) == "KMeans(n_clusters=2, random_state=0)" and list(model.feature_names_in_) == ["x", "y"]
assert (model.predict(Table(x, ["x", "y"])) == model.labels_).all() and (model.predict(x) == model.labels_).all()
for wrong, words in ((Table(x, ["y", "x"]), "feature names"), (x[:, :1], "1 features"), (x * 1j, "Complex")):
    try:
        model.predict(wrong)
    except ValueError as e:
        assert words in str(e), e
    else:
        raise SystemExit("taken: " + words)
try:
    ts.KMeans(n_init=True).fit(x)
except ts.InvalidArgument:
    print("passed")
"""


def test_without_scikit_learn():
    run = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
    assert run.stdout == "passed\n", run.stderr


def test_too_old_a_scikit_learn_is_named(monkeypatch):
    monkeypatch.setattr(sklearn, "__version__", "1.1.3")
    monkeypatch.delitem(sys.modules, "tallskinny._with_sklearn")
    with pytest.raises(ImportError, match="scikit-learn 1.2 or later, or none: 1.1.3 is installed"):
        importlib.import_module("tallskinny._with_sklearn")


@pytest.mark.parametrize("model", models)
def test_copies_of_models(model):
    X = np.random.default_rng(0).random((60, 3))
    given = model(3, random_state=1, context=ts.Context(threads=1, determinism="gpu_to_gpu"))
    for same in (clone(given), pickle.loads(pickle.dumps(given))):
        assert (same.context.threads, same.context.determinism) == (1, "gpu_to_gpu")
        assert (same.fit(X).labels_ == given.fit(X).labels_).all()
    again = pickle.loads(pickle.dumps(given))
    assert (again.predict(X) == given.labels_).all() and again.inertia_ == given.inertia_
    assert (copy.deepcopy(given).cluster_centers_ == given.cluster_centers_).all()


wrong_everywhere = dict(
    n_clusters=[0, 2.0, "2", None, True], init=["best", 3, None], n_init=[0, True, 1.5, "automatic", None],
    max_iter=[0, 10.0], tol=[-1, "small", np.nan, np.inf, True], verbose=[-1, "yes"],
    random_state=[-1, 2**32, 1.5, "zero"], metric=["manhattan", None], callback=[1], context=["cpu", 2])
wrong_in = {
    ts.KMeans: dict(copy_x=["no", 1, None], algorithm=["full", None]),
    ts.MiniBatchKMeans: dict(batch_size=[0, 1.5], compute_labels=["yes"], max_no_improvement=[-1, 1.5], init_size=[0],
                             reassignment_ratio=[-0.1, None]),
    ts.BisectingKMeans: dict(copy_x=["no"], algorithm=["two-level"])}


@pytest.mark.parametrize("model", models)
def test_parameters_are_checked(model):
    X = np.random.default_rng(0).random((20, 2))
    for name, values in {**wrong_everywhere, **wrong_in[model]}.items():
        for value in values:
            with pytest.raises(ts.InvalidArgument, match=f"'{name}' parameter of {model.__name__} must be .* Got "):
                model(**{"n_clusters": 2, name: value}).fit(X)
    with pytest.raises(ts.InvalidArgument, match="must be an int in the range \\[1, inf\\). Got 0 instead"):
        model(0).fit(X)
    for right in (dict(n_clusters=np.int64(2)), dict(random_state=np.random.RandomState(0)), dict(tol=0),
                  dict(random_state=np.random.default_rng(0)), dict(random_state=2**32 - 1), dict(verbose=False)):
        model(**{"n_clusters": 2, **right}).fit(X)


def test_storage_of_sparse_rows():
    x = sp.random(300, 20, 0.3, random_state=0, format="csr")
    wanted = ts.KMeans(4, random_state=0).fit(x)
    shuffled = np.concatenate([np.random.default_rng(r).permutation(np.arange(x.indptr[r], x.indptr[r + 1]))
                               for r in range(300)])
    unsorted = sp.csr_matrix((x.data[shuffled], x.indices[shuffled], x.indptr), shape=x.shape)
    halves = sp.csr_matrix((np.repeat(x.data / 2, 2), np.repeat(x.indices, 2), x.indptr * 2), shape=x.shape)
    stored = [unsorted, halves, x.tocoo(), x.tocsc(), sp.csr_array(x)]
    for numbers in (np.int32, np.int64):
        for pointers in (np.int32, np.int64):
            stored.append(x.copy())
            stored[-1].indices, stored[-1].indptr = x.indices.astype(numbers), x.indptr.astype(pointers)
    for form in stored:
        found = ts.KMeans(4, random_state=0).fit(form)
        assert (found.labels_ == wanted.labels_).all() and (found.predict(form) == wanted.labels_).all()
        np.testing.assert_allclose(found.transform(form), wanted.transform(x))
        np.testing.assert_allclose(ts.svds(form, k=3)[1], ts.svds(x.toarray(), k=3)[1])


peak = """
import sys, numpy as np, tallskinny as ts
def kilobytes(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])
x = np.random.default_rng(0).random((2_000_000, 32), dtype=np.float32).astype(np.float16)
ts.KMeans(2, max_iter=1, n_init=1, init="random").fit(x[:10_000])  # loads what it needs
before = kilobytes("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
model = ts.KMeans(4, max_iter=3, random_state=0).fit(x)
print((kilobytes("VmHWM") - before) * 1024 / x.nbytes)
"""


def test_float16_is_read_where_it_lies():
    x = make_blobs(500, 3, random_state=2)[0].astype(np.float16)
    found, wide = (ts.KMeans(4, random_state=0).fit(a) for a in (x, x.astype(np.float64)))
    assert (found.labels_ == wide.labels_).all() and found.cluster_centers_.dtype == np.float64
    assert found.inertia_ == wide.inertia_ and (found.transform(x) == wide.transform(x.astype(np.float64))).all()
    x[17, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ts.KMeans(4).fit(x)
    run = subprocess.run([sys.executable, "-c", peak], capture_output=True, text=True)
    assert float(run.stdout) < 0.5, run.stdout + run.stderr


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
    with pytest.raises(ts.InvalidArgument, match="'init' parameter of KMeans must be a str among .'k-means"):
        ts.KMeans(2, init="best").fit(X)
    with pytest.raises(ValueError, match="number of features"):
        ts.KMeans(2, init=np.ones((2, 3))).fit(X)


def test_bisecting_splits_the_largest_cluster():
    rng = np.random.default_rng(0)
    wide, dense = rng.uniform(-50, 50, (20, 2)), rng.normal(300, 0.1, (400, 2))
    X = np.concatenate([wide, dense])
    sizes = {}
    for strategy in ("biggest_inertia", "largest_cluster"):
        model = ts.BisectingKMeans(4, bisecting_strategy=strategy, random_state=0).fit(X)
        sizes[strategy] = sorted(np.bincount(model.labels_))
    assert sizes["biggest_inertia"][-1] == 400
    assert sizes["largest_cluster"][-1] < 400 and 20 in sizes["largest_cluster"]
    with pytest.raises(ValueError, match="bisecting_strategy"):
        ts.BisectingKMeans(4, bisecting_strategy="deepest").fit(X)


def test_callable_chooses_first_centers():
    X = np.random.default_rng(0).normal(size=(128, 1))
    asked = []

    def start(rows, k, random_state):
        asked.append((len(rows), k))
        return rows[random_state.permutation(len(rows))[:k]]

    assert len(set(ts.BisectingKMeans(6, init=start, random_state=0).fit(X).labels_)) == 6
    assert asked[0] == (128, 2) and [k for _, k in asked] == [2] * 5 and all(n < 128 for n, _ in asked[1:])
    asked.clear()
    best = ts.KMeans(6, init=start, n_init=7, random_state=0).fit(X)
    assert asked == [(128, 6)] * 7
    assert best.inertia_ <= ts.KMeans(6, init=start, n_init=1, random_state=0).fit(X).inertia_

    def fails(rows, k, random_state):
        raise RuntimeError("no centres today")

    with pytest.raises(RuntimeError, match="no centres today"):
        ts.BisectingKMeans(3, init=fails).fit(X)
    with pytest.raises(ValueError, match="must be a word or a callable"):
        ts.BisectingKMeans(3, init=X[:3]).fit(X)


def test_partial_fit_by_cosine_counts_directions():
    rng = np.random.default_rng(0)
    X = np.array([[1.0, 0.1], [0.1, 1.0]])[rng.integers(0, 2, 300)] * rng.uniform(0.01, 100, (300, 1))
    X[5] = 0
    model = ts.MiniBatchKMeans(2, metric="cosine", init=np.eye(2)).partial_fit(X)
    directions = np.array([[1.0, 0.1], [0.1, 1.0]]) / np.hypot(1, 0.1)
    np.testing.assert_allclose(model.cluster_centers_, directions, rtol=1e-12)


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


def test_ctrl_c_ends_a_call_without_end():
    run = subprocess.Popen([sys.executable, "-c", endless], stdout=subprocess.PIPE, text=True)
    while run.stdout.readline() != "running\n":
        assert run.poll() is None
    os.kill(run.pid, signal.SIGINT)
    rest, _ = run.communicate(timeout=60)
    assert rest.endswith("interrupted\n")
