"""Arrays of NumPy, CuPy and PyTorch as operands, without a copy where their layout allows it."""

from __future__ import annotations

import contextlib
import sys

import numpy as np

_results = {np.dtype(np.float16): np.dtype(np.float32)}
_types = {np.dtype(t) for t in (np.float64, np.complex128, np.float32, np.complex64, np.float16)}


def is_foreign(a):
    """An array of another library than NumPy that exports itself by DLPack."""
    return not isinstance(a, np.ndarray) and hasattr(a, "__dlpack__") and hasattr(a, "dtype")


def is_on_device(a):
    """True if an array lies in the memory of a GPU."""
    return is_foreign(a) and int(a.__dlpack_device__()[0]) not in (1, 3)


def module_of(a):
    """The module that made a foreign array: torch, cupy."""
    return sys.modules[type(a).__module__.split(".")[0]]


def named_type(a):
    """The name of the element type of a foreign array, and NumPy's type of that name or None."""
    name = str(a.dtype).split(".")[-1]
    try:
        return name, np.dtype(name)
    except TypeError:
        return name, None


def wait_for(a):
    """Waits until writes into a foreign array have ended."""
    if is_on_device(a):
        from ._context import _prepare_gpu

        _prepare_gpu()
        module = module_of(a)
        if module.__name__ == "torch":
            module.cuda.current_stream(a.device).synchronize()
        elif module.__name__ == "cupy":
            module.cuda.get_current_stream().synchronize()


def tall(a, name):
    """A matrix that the engine takes as it is: of one of its types, rows or columns contiguous."""
    if type(a) is np.ndarray:
        if a.ndim == 1:
            a = a[:, None]
        if a.dtype not in _types:
            if a.dtype.kind not in "iub":
                raise TypeError(f"{name} is of {a.dtype}, which is not a type of numbers that the engine computes in")
            a = a.astype(np.float64)
        s0, s1 = a.strides[0], a.strides[-1]
        step = a.itemsize
        if a.ndim == 2 and not ((s1 == step and s0 >= step * a.shape[1]) or (s0 == step and s1 >= step * a.shape[0])):
            a = np.ascontiguousarray(a)
        return a
    from ._foreign import adopted

    a = adopted(a)
    if is_foreign(a):
        if hasattr(a, "requires_grad"):
            a = a.detach().resolve_conj()
        a = a[:, None] if a.ndim == 1 else a
        if a.ndim == 2 and not _has_lines(a):
            a = a.contiguous() if hasattr(a, "contiguous") else a.copy(order="C")
        wait_for(a)
        return a
    return tall(np.asarray(a), name)


def _has_lines(a):
    """True if rows or columns of a foreign array are contiguous."""
    if hasattr(a, "stride"):
        s0, s1 = a.stride()
    elif hasattr(a, "strides"):
        s0, s1 = (s // a.itemsize for s in a.strides)
    else:
        return True
    rows, columns = a.shape
    if 1 in a.shape:
        return (rows == 1 or s0 > 0) and (columns == 1 or s1 > 0)
    return (s1 == 1 and s0 >= columns) or (s0 == 1 and s1 >= rows)


def empty(like, shape, dtype=None):
    """A new array where `like` lies, of the type that products of it have."""
    if type(like) is np.ndarray:
        return np.empty(shape, dtype=_results.get(like.dtype, like.dtype) if dtype is None else dtype)
    module = module_of(like)
    if dtype is None:
        name, known = named_type(like)
        result = np.dtype(np.float32) if known is None else _results.get(known, known)
        dtype = like.dtype if result.name == name else getattr(module, result.name)
    if module.__name__ == "torch":
        return module.empty(shape, dtype=dtype, device=like.device)
    with _device_of(like):
        return module.empty(shape, dtype=dtype)


def output(out, like, shape, beta, name="out"):
    """`out` as it was given, or a new array."""
    if out is None:
        if beta != 0:
            raise ValueError("beta is not 0, so out is needed: it holds what is added to")
        return empty(like, shape)
    if tuple(out.shape) != tuple(shape):
        raise ValueError(f"{name} is of shape {tuple(out.shape)} where {tuple(shape)} is needed")
    if type(out) is np.ndarray:
        if not out.flags.writeable:
            raise ValueError(f"{name} cannot be written to")
        if tall(out, name) is not out:
            raise ValueError(f"{name} must have contiguous rows or columns, and a type that the engine writes")
    return out


def _device_of(a):
    """Makes the GPU of an array of CuPy the one where new arrays lie."""
    return a.device if hasattr(getattr(a, "device", None), "__enter__") else contextlib.nullcontext()


def on_host(a):
    """An array as one of NumPy: without a copy, but from a GPU. A sparse matrix as one of SciPy."""
    if is_sparse(a):
        return a
    if hasattr(a, "on_host"):
        return a.on_host()
    if hasattr(a, "detach"):
        a = a.detach().resolve_conj().resolve_neg()
        return (a.float() if named_type(a)[1] is None else a).cpu().numpy()
    if is_on_device(a):
        return a.get() if hasattr(a, "get") else np.from_dlpack(a)
    return np.asarray(a)


def back_to(like, result):
    """A NumPy array as one of the library that made `like`, where that lies."""
    like = getattr(like, "values", None) if hasattr(like, "on_host") else like
    if not is_foreign(like) or type(result) is not np.ndarray:
        return result
    module = module_of(like)
    if module.__name__ == "torch":
        return module.from_numpy(result).to(like.device)
    with _device_of(like):
        return module.asarray(result)


def columns_of(a, numbers):
    """A copy of columns of an array of any library."""
    if isinstance(a, np.ndarray):
        return a[:, numbers]
    module = module_of(a)
    if module.__name__ == "torch":
        return a[:, module.as_tensor(numbers, device=a.device)]
    with _device_of(a):
        return a[:, module.asarray(numbers)]


def is_sparse(a):
    return "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(a)


def csr_parts(a, types=None):
    """(indptr, indices, data, columns) of a sparse matrix: values and column numbers of CSR are not copied.

    Row pointers become 64-bit, column numbers 32-bit; columns are sorted, duplicates added up.
    """
    a = a.tocsr()
    if not a.has_canonical_format:
        a = a.copy()
        a.sum_duplicates()
    data = a.data
    types = _types - {np.dtype(np.float16)} if types is None else types
    if data.dtype not in types:
        data = data.astype(np.complex128 if data.dtype.kind == "c" else np.float64)
    if a.shape[1] > 2**31:
        raise ValueError("a sparse matrix may have 2^31 columns at most")
    return (
        np.ascontiguousarray(a.indptr, dtype=np.int64),
        np.ascontiguousarray(a.indices, dtype=np.int32),
        np.ascontiguousarray(data),
        int(a.shape[1]),
    )
