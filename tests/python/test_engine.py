"""Products against NumPy; what is not copied; sentences of errors; files; the search for NVRTC."""

import numpy as np
import pytest
import scipy.sparse as sp
from device import block, close, NumPy, products_are_right, types

import tallskinny as ts
from tallskinny import _nvrtc
from tallskinny._arrays import csr_parts, tall


@pytest.mark.parametrize("dtype", types)
def test_products(dtype):
    products_are_right(NumPy(), 500, dtype)
    b, sparse = block(500, 3, dtype, 1), sp.random_array((500, 500), density=0.02, format="csr", rng=3).astype(dtype)
    close(ts.spmm(sparse, b), sparse @ b)


def test_half_precision_gives_float32():
    a = block(100, 3, np.float32).astype(np.float16)
    assert ts.gram(a).dtype == np.float32
    np.testing.assert_allclose(ts.gram(a), a.astype(float).T @ a.astype(float), rtol=1e-5)


def test_out_alpha_beta_and_layouts():
    a = block(300, 4, np.float64)
    c = np.eye(4)
    assert ts.gram(a, alpha=2, beta=3, out=c) is c
    np.testing.assert_allclose(c, 2 * a.T @ a + 3 * np.eye(4))
    nan = np.full((4, 4), np.nan)
    assert np.isfinite(ts.gram(a, out=nan)).all()
    wide = block(300, 9, np.float64)
    for view in (wide[:, 2:6], np.asfortranarray(a), wide[:, ::2], wide[::-1]):
        np.testing.assert_allclose(ts.gram(view), view.T @ view)


def test_what_is_not_copied():
    wide = block(100, 9, np.float64)
    for view in (wide, wide[:, 2:6], np.asfortranarray(wide)):
        assert tall(view, "a") is view
    sparse = sp.random_array((50, 50), density=0.1, format="csr", rng=0)
    _, indices, data, _ = csr_parts(sparse)
    assert np.shares_memory(indices, sparse.indices) and np.shares_memory(data, sparse.data)


def test_dlpack_of_another_library():
    class Foreign:  # an array that is none of NumPy's, but exports itself as one of them would
        __module__ = "numpy"

        def __init__(self, a):
            self.a, self.dtype, self.shape, self.ndim = a, a.dtype, a.shape, a.ndim

        def __dlpack__(self, **options):
            return self.a.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    a = block(100, 3, np.float64)
    np.testing.assert_allclose(ts.gram(Foreign(a)), a.T @ a)


def test_errors():
    a = np.ones((10, 2))
    with pytest.raises(ValueError, match=r"shape \(3, 3\) where \(2, 2\)"):
        ts.gram(a, out=np.ones((3, 3)))
    with pytest.raises(ts.InvalidArgument, match="b is of float32 where float64 is needed"):
        ts.inner(a, np.ones((10, 2), np.float32))
    with pytest.raises(ts.InvalidArgument):
        ts.inner(a, np.ones((9, 2)))
    with pytest.raises(TypeError, match="not a type of numbers"):
        ts.gram(np.array([["x"]]))
    with pytest.raises(ValueError, match="beta"):
        ts.gram(a, beta=1)
    frozen = np.ones((2, 2))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="written"):
        ts.gram(a, out=frozen)
    bad = sp.csr_array((np.ones(1), np.array([0], np.int32), np.array([0, 1, 1])), shape=(2, 2))
    bad.indices[0] = 7
    with pytest.raises(ValueError, match="outside"):
        ts.spmm(bad, np.ones((2, 1)))


def test_threads_do_not_change_bits():
    a = block(100_000, 5, np.float64)
    assert (ts.gram(a, context=ts.Context(threads=1)) == ts.gram(a, context=ts.Context(threads=2))).all()
    with pytest.raises(ValueError, match="threads"):
        ts.Context(threads=-1)
    before = ts.set_default_context(ts.Context(threads=1))
    assert ts.default_context().threads == 1
    ts.set_default_context(before)


def test_no_device_is_said():
    if ts.devices():
        pytest.skip("there is a GPU")
    with pytest.raises(ts.NoDevice):
        ts.Context(device="cuda")


def test_files(tmp_path):
    dense, sparse = block(20, 3, np.float64), sp.random_array((20, 20), density=0.2, format="csr", rng=0)
    path = tmp_path / "both.h5"
    ts.write(path, dense=dense, sparse=sparse)
    assert (ts.read(f"{path}:/dense") == dense).all()
    assert (ts.read(f"{path}:/dense", rows=slice(5, 9)) == dense[5:9]).all()
    assert (ts.read(f"{path}:/sparse") != sparse).nnz == 0
    assert sorted(i["shape"] for i in ts.info(path)) == [(20, 3), (20, 20)]
    assert "20 x 3, dense" in str(ts.info(f"{path}:/dense")[0])
    np.save(tmp_path / "a.npy", dense)
    assert (ts.read(tmp_path / "a.npy") == dense).all()
    with pytest.raises(ts.BadInput, match="missing.h5"):
        ts.read(tmp_path / "missing.h5")
    with pytest.raises(OSError, match="nowhere"):
        ts.write(tmp_path / "nowhere" / "a.h5", a=dense)


def test_nvrtc_is_found(tmp_path):
    for version, name in (("cu12", "libnvrtc.so.12"), ("cu13", "libnvrtc.so.13")):
        folder = tmp_path / "nvidia" / version / "lib"
        folder.mkdir(parents=True)
        (folder / name).touch()
        (folder / "libnvrtc-builtins.so.99").touch()
    newest, older = (str(tmp_path / "nvidia" / v / "lib") for v in ("cu13", "cu12"))
    assert _nvrtc.find([newest, older]) == newest + "/libnvrtc.so.13"
    assert _nvrtc.find([str(tmp_path)]) is None


def test_plan_is_text():
    assert "memory-bound" in ts.plan("gram", np.float64, 10_000_000, 2)
    with pytest.raises(ts.InvalidArgument, match="operation"):
        ts.plan("product", np.float64, 10)
