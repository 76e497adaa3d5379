"""Matrices of other libraries that are no arrays of DLPack: sparse ones, and arrays that only tell where they lie."""

from __future__ import annotations

import importlib

import numpy as np

from ._arrays import is_on_device, is_sparse, module_of, named_type, on_host, wait_for


def adopted(a):
    """`a` as an array of DLPack or a `ForeignCsr` where it is neither; nothing is copied."""
    if isinstance(a, (np.ndarray, ForeignCsr)) or is_sparse(a):
        return a
    if _is_foreign_sparse(a):
        return ForeignCsr(a)
    if hasattr(a, "__dlpack__") or not hasattr(a, "__cuda_array_interface__"):
        return a
    for name in ("cupy", "torch"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if name == "cupy":
            return module.asarray(a)
        module.cuda.synchronize()  # PyTorch does not look at the stream that the array names
        return module.as_tensor(a, device="cuda")
    raise TypeError("an array that has only __cuda_array_interface__ needs CuPy or PyTorch: results are theirs")


def _is_foreign_sparse(a):
    if hasattr(a, "layout") and hasattr(a, "is_sparse"):
        return str(a.layout) != "torch.strided"
    if hasattr(a, "get") and hasattr(a, "tocsr"):
        return True  # of CuPy
    return all(hasattr(a, name) for name in ("indptr", "indices", "data", "shape"))


class ForeignCsr:
    """Rows of a sparse matrix of PyTorch, CuPy, or anything with `indptr`, `indices`, `data` and `shape`.

    Attributes
    ----------
    pointers, indices, values : arrays
        Where the matrix has them.
    shape : tuple of two int
    dtype : numpy.dtype
    """

    def __init__(self, a):
        if hasattr(a, "layout"):
            a = a.detach()
            a = a if str(a.layout) == "torch.sparse_csr" else a.to_sparse_csr()
            arrays = a.crow_indices(), a.col_indices(), a.values()
        else:
            a = a.tocsr() if getattr(a, "format", "csr") != "csr" else a
            arrays = a.indptr, a.indices, a.data
        self.pointers, self.indices, self.values = (adopted(x) for x in arrays)
        self.shape = tuple(int(n) for n in a.shape)
        if len(self.shape) != 2:
            raise ValueError(f"a sparse matrix has {len(self.shape)} dimensions where two are needed")
        known = named_type(self.values)[1]
        self.dtype = np.dtype(np.float32) if known is None else known

    @property
    def device(self):
        """The number of the GPU that it lies on, or None."""
        return int(self.values.__dlpack_device__()[1]) if is_on_device(self.values) else None

    def parts(self, types):
        """(indptr, indices, data, columns) in host memory, of a type of these: what `csr_parts` gives."""
        data = on_host(self.values)
        if data.dtype not in types:
            data = data.astype(np.complex128 if data.dtype.kind == "c" else np.float64)
        if self.shape[1] > 2**31:
            raise ValueError("a sparse matrix may have 2^31 columns at most")
        pointers = np.ascontiguousarray(on_host(self.pointers), dtype=np.int64)
        indices = np.ascontiguousarray(on_host(self.indices), dtype=np.int32)
        n = self.shape[0]
        if len(pointers) != n + 1 or pointers[0] != 0 or (np.diff(pointers) < 0).any() or pointers[-1] > len(indices):
            raise ValueError(f"the row pointers of a sparse matrix of {n} rows do not fit to it")
        return (*_canonical(pointers, indices[:pointers[-1]], np.ascontiguousarray(data[:pointers[-1]])), self.shape[1])

    def on_device(self):
        """(indptr, indices, data) on the GPU: row pointers of 64 bits, column numbers of 32."""
        module = module_of(self.values)
        arrays = [self.pointers, self.indices, self.values]
        for i, kind in ((0, module.int64), (1, module.int32)):
            if arrays[i].dtype != kind:
                arrays[i] = arrays[i].to(kind) if hasattr(arrays[i], "to") else arrays[i].astype(kind)
        pointers, indices, values = arrays
        entries = int(indices.shape[0])
        right = len(pointers) == self.shape[0] + 1 and values.shape[0] == entries and self.shape[1] <= 2**31
        right = right and int(pointers[0]) == 0 and int(pointers[-1]) == entries
        right = right and bool((pointers[1:] >= pointers[:-1]).all())
        if not right or (entries and not 0 <= int(indices.min()) <= int(indices.max()) < self.shape[1]):
            raise ValueError(f"the row pointers or column numbers of a sparse matrix of shape {self.shape} do not fit")
        wait_for(values)
        return arrays

    def on_host(self):
        """Converts to a `scipy.sparse.csr_array`."""
        from scipy.sparse import csr_array

        data = on_host(self.values)
        return csr_array((data, on_host(self.indices), on_host(self.pointers)), shape=self.shape)


def _canonical(pointers, indices, data):
    """Columns that rise within each row; entries at one place are added up."""
    rows = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    places = rows * (int(indices.max(initial=0)) + 1) + indices
    if (np.diff(places) > 0).all():
        return pointers, indices, data
    order = np.argsort(places, kind="stable")
    places, first = np.unique(places[order], return_index=True)
    rows, indices = rows[order][first], indices[order][first]
    pointers = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(pointers) - 1))))
    return pointers, np.ascontiguousarray(indices), np.add.reduceat(data[order], first)
