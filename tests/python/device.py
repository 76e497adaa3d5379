"""What tests of arrays on a GPU share: the libraries that have them, matrices, and a way to run without pytest."""

import importlib
import sys
import time
import traceback

import numpy as np

import tallskinny as ts

types = ["float64", "complex128", "float32", "complex64"]


class Torch:
    def __init__(self):
        self.module = importlib.import_module("torch")
        if not self.module.cuda.is_available():
            raise ImportError("PyTorch sees no GPU")

    def array(self, a):
        return self.module.from_numpy(np.array(a, order="C")).cuda()

    def host(self, a):
        assert self.owns(a), f"{type(a)} is not PyTorch's, or not on the GPU"
        return a.resolve_conj().cpu().numpy()

    def owns(self, a):
        return isinstance(a, self.module.Tensor) and a.is_cuda

    def csr(self, indptr, indices, data, shape):
        return self.module.sparse_csr_tensor(self.array(indptr), self.array(indices), self.array(data), shape)

    def pointer(self, a):
        return a.data_ptr()


class NumPy:
    """The same of arrays in host memory."""

    def array(self, a):
        return np.array(a)

    def host(self, a):
        return a


class CuPy:
    def __init__(self):
        self.module = importlib.import_module("cupy")
        self.module.cuda.runtime.getDeviceCount()

    def array(self, a):
        return self.module.asarray(a)

    def host(self, a):
        assert self.owns(a), f"{type(a)} is not CuPy's"
        return self.module.asnumpy(a)

    def owns(self, a):
        return isinstance(a, self.module.ndarray)

    def csr(self, indptr, indices, data, shape):
        sparse = importlib.import_module("cupyx.scipy.sparse")
        return sparse.csr_matrix((self.array(data), self.array(indices), self.array(indptr)), shape=shape)

    def pointer(self, a):
        return a.data.ptr


def found_libraries():
    """Those that can be used, and why others cannot."""
    found, missing = [], []
    for library in (Torch, CuPy):
        try:
            found.append(library())
        except Exception as e:  # of CuPy without a driver there are many
            missing.append(f"{library.__name__}: {e}")
    return found, missing


libraries, why_not = found_libraries()
if not ts.devices():
    libraries, why_not = [], ["the library finds no GPU"]
def skip_without_a_device():
    """Skips the module that calls, by pytest, where no library has arrays on a GPU."""
    if not libraries and "pytest" in sys.modules:
        sys.modules["pytest"].skip("no arrays on a GPU: " + "; ".join(why_not), allow_module_level=True)


def raises(error, words, call):
    """Asserts that call() raises this error with these words in its sentence."""
    try:
        call()
    except error as e:
        assert words in str(e), f"{words!r} is not in {e}"
    else:
        raise AssertionError(f"no {error.__name__} was raised")


def block(n, p, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, p))
    return (a + 1j * rng.standard_normal((n, p)) if np.dtype(dtype).kind == "c" else a).astype(dtype)


def symmetric(n, dtype="float64"):
    a = block(n, n, dtype)
    return a + a.conj().T


def close(found, wanted, factor=200):
    assert found.dtype == wanted.dtype, f"{found.dtype} where {wanted.dtype} is wanted"
    np.testing.assert_allclose(found, wanted, rtol=0, atol=factor * np.finfo(found.dtype).eps * np.abs(wanted).max())


def products_are_right(lib, n, dtype):
    """Of the engine, with arrays of a library, against NumPy."""
    a, b, s = block(n, 7, dtype), block(n, 3, dtype, 1), block(7, 4, dtype, 2)
    da, db, ds = map(lib.array, (a, b, s))
    close(lib.host(ts.gram(da)), a.conj().T @ a)
    close(lib.host(ts.inner(da, db)), a.conj().T @ b)
    close(lib.host(ts.inner(da, db, conjugate=False)), a.T @ b)
    close(lib.host(ts.tsmm(da, ds)), a @ s)
    close(lib.host(ts.tsmm(da, ds, alpha=2, beta=3, out=lib.array(a @ s))), 5 * (a @ s))
    close(lib.host(ts.tsm2r(lib.array(a.T.copy()), db)), a.T @ b)
    close(lib.host(ts.column_norms(da)), np.linalg.norm(a, axis=0))
    r = np.triu(block(7, 7, dtype)) + 5 * np.eye(7, dtype=dtype)
    close(lib.host(ts.trsm(da, lib.array(r))) @ r, a)
    close(lib.host(da), a)  # as it was
    q, r = ts.orthonormalise(da)
    close(lib.host(q) @ r, a)
    close(lib.host(ts.gram(q)), np.eye(7, dtype=dtype))


def laplacian(n, dtype="float64"):
    """(indptr, indices, data, shape) of the second difference, and its eigenvalues."""
    rows = np.repeat(np.arange(n), 3)
    columns = rows + np.tile([-1, 0, 1], n)
    inside = (columns >= 0) & (columns < n)
    data = np.tile([-1.0, 2.0, -1.0], n)[inside].astype(dtype)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows[inside], minlength=n))))
    exact = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    return (indptr.astype(np.int32), columns[inside].astype(np.int32), data, (n, n)), exact


class OnlyInterface:
    """An array that tells where it lies, and no more."""

    def __init__(self, a):
        self.kept, self.__cuda_array_interface__ = a, a.__cuda_array_interface__


class Triple:
    """A sparse matrix of nobody's library."""

    def __init__(self, lib, indptr, indices, data, shape):
        self.indptr, self.indices, self.data, self.shape = (*map(lib.array, (indptr, indices, data)), shape)


def main(*modules):
    """Runs the tests of these modules, or those named on the command line; prints a line for each."""
    print(f"tallskinny {ts.__version__}, GPUs: {ts.devices()}, libraries: "
          f"{[lib.module.__name__ + ' ' + lib.module.__version__ for lib in libraries]}, not: {why_not}", flush=True)
    failed = 0 if libraries else 1
    wanted = sys.argv[1:]
    tests = {name: test for module in modules for name, test in vars(module).items() if name.startswith("test_")}
    for name, test in tests.items() if libraries else ():
        if not callable(test) or (wanted and name not in wanted):
            continue
        begin = time.monotonic()
        try:
            test()
            print(f"passed {name} in {time.monotonic() - begin:.1f} s", flush=True)
        except Exception as e:
            failed += 1
            print(f"FAILED {name}: {type(e).__name__}: {str(e)[:600]}", flush=True)
            traceback.print_exc()
    print(f"{failed} failed")
    sys.exit(failed != 0)
