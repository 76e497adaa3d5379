"""Eigenvalues and singular values with SciPy's interface."""

from __future__ import annotations

import numpy as np

from . import _core
from ._arrays import back_to, csr_parts, is_sparse, on_host
from ._foreign import adopted
from ._matrix import Matrix, products
from ._pencil import GeneralPencil, by_buckling, by_cayley, is_operator, matrix_of
from ._progress import progress_of
from ._result import Result, attributes_of, checked

_usual_tol = 1e-12  # of tol=0


def _options(tol, maxiter, rng, vectors, verify, method="auto"):
    if tol < 0 or not np.isfinite(tol):
        raise ValueError(f"`tol` must be a non-negative floating point value, not tol={tol}")
    options = _core.EigenOptions()
    options.tol = float(tol) if tol > 0 else _usual_tol
    if maxiter is not None:
        if int(maxiter) != maxiter or maxiter <= 0:
            raise ValueError(f"`maxiter` must be a positive integer, not maxiter={maxiter}")
        options.max_iterations = int(maxiter)
    if hasattr(rng, "integers"):
        rng = rng.integers(2**63)
    elif hasattr(rng, "randint"):
        rng = rng.randint(2**31 - 1)
    options.seed = 0 if rng is None else int(rng) % 2**64
    options.vectors = bool(vectors)
    options.verify = bool(verify)
    options.set_method(method)
    return options


def _check_k(k, n):
    if int(k) != k or k <= 0:
        raise ValueError(f"k={k} must be greater than 0.")
    if k > n:
        raise ValueError(f"k={k} must be at most {n}, the number of rows of A")
    return int(k)


def _initial(v0, n, dtype):
    if v0 is None:
        return None
    v0 = np.asarray(on_host(adopted(v0)))
    v0 = v0.reshape(-1, 1) if v0.ndim == 1 else v0
    if v0.shape[0] != n:
        raise ValueError(f"v0 has {v0.shape[0]} rows where A has {n}")
    return np.ascontiguousarray(v0, dtype=dtype)


def eigsh(A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True,
          Minv=None, OPinv=None, mode="normal", rng=None, *, symmetrise=False, method="auto", verify=True, verbose=0,
          callback=None, context=None):
    """Eigenvalues and eigenvectors of a Hermitian matrix, with SciPy's arguments.

    Parameters
    ----------
    A : array, sparse matrix, DataFrame or LinearOperator, shape (n, n)
        CSR and dense float64 and complex128 are read without a copy. A matrix on a GPU, dense or sparse, of CuPy,
        PyTorch or anything with `indptr`, `indices` and `data`, is processed there; its entries are copied to host
        memory once, to be checked and factorised. Values and vectors are then arrays of its library on its GPU.
    k : int
        Number of eigenvalues, up to n.
    M : sparse matrix, array or LinearOperator, optional
        Mass matrix of A x = lambda M x, positive definite. It is factorised; a LinearOperator is first made a matrix
        by products with all columns of the identity.
    sigma : float, optional
        Finds the eigenvalues nearest to sigma, by a factorisation of A - sigma M, or by `OPinv`. A LinearOperator
        without `OPinv` is first made a matrix.
    which : {'LM', 'SM', 'LA', 'SA', 'BE'}
        With `sigma`, 'LA' and 'SA' are the nearest above and below, fewer than k where there are no more, 'BE' on both
        sides, and 'SM' the farthest.
    v0 : array, shape (n,) or (n, c), optional
        First block of the search.
    ncv : int, optional
        Columns of the basis; rarely needed.
    maxiter : int, optional
        Limit of block steps.
    tol : float
        Residuals relative to the eigenvalue; 0 means as small as rounding of products with A and M allows, or 1e-12.
    return_eigenvectors : bool
        False: an array of the values alone.
    Minv : ignored
        M is factorised.
    OPinv : LinearOperator, optional
        Products with the inverse of A - sigma M, for an A that is one.
    mode : {'normal', 'buckling', 'cayley'}
        With `sigma`, what `which` goes by: 1 / (lambda - sigma), lambda / (lambda - sigma), for which A is positive
        definite and M need not be, or (lambda + sigma) / (lambda - sigma).
    rng : int or numpy.random.Generator, optional
        Seed of the random first block; equal integers give equal bits.
    symmetrise : bool
        Solve (A + A^H) / 2, and likewise for M, however far they are from Hermitian. If False, this is done where the
        difference lies within half of the digits of the type, as rounding leaves it; error bounds then include it.
    method : {'auto', 'lanczos', 'dense', 'chebyshev', 'lobpcg', 'davidson'}
    verify : bool
        Check that no copy of an eigenvalue is missing.
    verbose, callback, context
        As for `KMeans`.

    Returns
    -------
    w : array, shape (k,)
        In ascending order.
    v : array, shape (n, k)
        The tuple of both is a `Result`, with `complete`, and `asymmetry`: how far A was from Hermitian.

    Raises
    ------
    NoConvergence
        Also an ArpackNoConvergence; it holds the converged pairs. If all converged but completeness is not shown,
        there is an `UnprovenWarning` instead.
    BadInput
        For a matrix that is not Hermitian, naming the first entry, and for NaN and infinity.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, tallskinny as ts
    >>> w, v = ts.eigsh(sp.diags_array(np.arange(1.0, 101)), k=2)
    >>> w.round(6).tolist()
    [99.0, 100.0]
    """
    if mode not in ("normal", "buckling", "cayley"):
        raise ValueError(f"mode={mode!r} is none of 'normal', 'buckling', 'cayley'")
    if mode != "normal" and sigma is None:
        raise ValueError(f"mode={mode!r} needs a sigma")
    if ncv is not None and not k < ncv <= A.shape[0]:
        raise ValueError(f"ncv={ncv} must be above k={k} and at most {A.shape[0]}")
    one = {"v0": v0, "maxiter": maxiter, "tol": tol, "vectors": return_eigenvectors, "rng": rng,
           "symmetrise": symmetrise, "method": method, "verify": verify, "verbose": verbose, "callback": callback,
           "context": context}
    if mode == "cayley":
        found = by_cayley(lambda c, word: _hermitian(A, c, M, sigma, word, OPinv, **one), A.shape[0],
                          _check_k(k, A.shape[0]), float(np.real(sigma)), which)
    elif mode == "buckling":
        mass = A if not is_operator(A) else matrix_of(A, "A", "mode='buckling' factorises it")
        if M is None:
            from scipy.sparse import identity

            M = identity(A.shape[0], format="csr")
        elif is_operator(M):
            M = matrix_of(M, "M", "mode='buckling' factorises it")
        found = by_buckling(lambda c, at, word: _hermitian(M, c, mass, at, word, None, **one), A.shape[0],
                            _check_k(k, A.shape[0]), float(np.real(sigma)), which)
        found = Result((back_to(adopted(A), x) for x in found), found.__dict__)
    else:
        found = _hermitian(A, k, M, sigma, which, OPinv, **one)
    checked(found, found[0], found[1] if return_eigenvectors else None, verify)
    return found if return_eigenvectors else found[0]


def _mass_of(M, a):
    """M as sparse parts of the type of A, which becomes complex if M is."""
    from scipy.sparse import csr_array

    M = matrix_of(M, "M", "it is factorised") if is_operator(M) else csr_array(on_host(adopted(M)))
    if M.shape != a.shape:
        raise ValueError(f"wrong M dimensions {M.shape}, should be {a.shape}")
    if M.dtype.kind == "c":
        a.make_complex()
    m = csr_parts(M, {np.dtype(np.complex128 if a.is_complex else np.float64)})
    if a.is_complex and m[2].dtype.kind != "c":
        m = (*m[:2], m[2].astype(np.complex128), m[3])
    return M, m


def _hermitian(A, k, M, sigma, which, OPinv, *, v0, maxiter, tol, vectors, rng, symmetrise, method, verify, verbose,
               callback, context):
    """`eigsh` of mode 'normal': a Result of one array or two, converged or not."""
    near = sigma is not None or which == "SM"
    if near and OPinv is None and is_operator(A) and not (sigma is not None and which == "SM"):
        A = matrix_of(A, "A", "has no OPinv")
    a = Matrix(A)
    n = a.shape[0]
    k = _check_k(k, n)
    M, m = (None, None) if M is None else _mass_of(M, a)
    wide = np.complex128 if a.is_complex else np.float64
    options = _options(tol, maxiter, rng, vectors, verify, method)
    options.symmetrise = bool(symmetrise)
    options.from_float32 = any(np.dtype(x.dtype) in (np.float32, np.complex64) for x in (a, M) if x is not None)
    start = _initial(v0, n, wide)
    sigma = None if sigma is None else float(np.real(sigma))
    moved = 0.0
    if sigma is not None and which == "SM":  # the farthest from sigma
        a.move(sigma, M)
        moved, sigma, which, OPinv = sigma, None, "LM", None
    options.set_which(which)
    if OPinv is not None and a.operator is None:
        from scipy.sparse.linalg import aslinearoperator

        a.operator = aslinearoperator(A if is_sparse(A) else on_host(a.source))
    core = a.context(context, options)
    with progress_of(verbose, callback, "eigsh") as report:
        if a.operator is None:
            found = _core.eigsh(core, a.parts, k, options, sigma, m, start, report)
        else:
            call = _core.eigsh_by_complex if a.is_complex else _core.eigsh_by_real
            inverse = None if OPinv is None else products(OPinv)
            found = call(core, products(a.operator), n, k, options, sigma, m, start, inverse, report)
    order = np.argsort(found["values"], kind="stable")
    w = a.back((found["values"][order] + moved).astype(np.zeros(0, a.result_type).real.dtype, copy=False))
    v = a.columns(found["vectors"], order) if vectors else None
    return Result((w,) if v is None else (w, v), attributes_of(found, order))


def eigs(A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True,
         Minv=None, OPinv=None, OPpart=None, rng=None, *, method="auto", verify=True, verbose=0, callback=None,
         context=None):
    """Eigenvalues and eigenvectors of a matrix that need not be Hermitian, with SciPy's arguments.

    Parameters
    ----------
    A : array, sparse matrix, DataFrame or LinearOperator, shape (n, n)
    k : int
        Number of eigenvalues. For a real matrix, one more is found where a conjugate pair would be cut; k are returned.
    M : sparse matrix, array or LinearOperator, optional
        Mass matrix of A x = lambda M x. SciPy factorises M, or A - sigma M, on the processor.
    sigma : float or complex, optional
        `which` goes by 1 / (lambda - sigma): 'LM' gives the nearest to it, 'SM' the farthest. A LinearOperator without
        `OPinv` is first made a matrix by products with all columns of the identity.
    which : {'LM', 'SM', 'LR', 'SR', 'LI', 'SI'}
        'SM' without sigma is ``sigma=0``. Imaginary parts go by their size for real matrices.
    Minv, OPinv : LinearOperator, optional
        Products with the inverse of M, and of A - sigma M.
    OPpart : {'r', 'i'}, optional
        With a complex sigma and real matrices, `which` goes by eigenvalues of the real or imaginary part of
        inv(A - sigma M) M.
    v0, ncv : ignored
    maxiter, tol, return_eigenvectors, rng, method, verify, verbose, callback, context
        As for `eigsh`; methods are 'auto' and 'dense'.

    Returns
    -------
    w : array of complex, shape (k,)
        In the order of `which`.
    v : array of complex, shape (n, k)
        The tuple of both is a `Result`. A search is complete where the matrix is normal, or all was computed; otherwise
        `complete` is False and an `UnprovenWarning` says so, however well the pairs converged.

    Raises
    ------
    NoConvergence
        As for `eigsh`.
    """
    if sigma is None and which == "SM":
        sigma, which = 0.0, "LM"
    if sigma is not None and OPinv is None and is_operator(A) and which != "SM":
        A = matrix_of(A, "A", "has no OPinv")
    a = Matrix(A)
    n = a.shape[0]
    k = _check_k(k, n)
    options = _options(tol, maxiter, rng, True, verify, method)
    core = a.context(context, options)
    pencil = None
    if M is not None or OPinv is not None or OPpart is not None or (sigma is not None and which != "LM"):
        pencil = GeneralPencil(A, M, sigma, which, OPinv, Minv, OPpart)
        options.results_on_device = False
        which = pencil.which
    turned = which in ("LI", "SI") and (a if pencil is None else pencil).is_complex
    if turned:  # the library goes by the absolute imaginary part, SciPy for complex matrices by the real part of -i A
        which = {"LI": "LR", "SI": "SR"}[which]
    with progress_of(verbose, callback, "eigs") as report:
        if pencil is not None:
            call = _core.eigs_by_complex if pencil.is_complex else _core.eigs_by_real
            found = call(core, products(pencil, -1j if turned else 1), n, k, options, which, report)
        elif a.operator is None:
            sigma = None if sigma is None else complex(sigma)
            found = _core.eigs(core, a.times(-1j) if turned else a.parts, k, options, which, sigma, report)
        else:
            call = _core.eigs_by_complex if a.is_complex else _core.eigs_by_real
            found = call(core, products(a.operator, -1j if turned else 1), n, k, options, which, report)
    if turned:
        found["values"] = 1j * found["values"]
    if pencil is not None:
        found["values"] = pencil.values(found["values"], found["vectors"])
        found["residuals"], found["backward_errors"] = pencil.residuals(found["values"], found["vectors"])
    order = slice(0, k)
    dtype = np.complex64 if a.result_type in (np.float32, np.complex64) else np.complex128
    w = a.back(found["values"][order].astype(dtype, copy=False))
    v = a.columns(found["vectors"], order, dtype)
    result = checked(Result((w, v), attributes_of(found, order)), w, v, verify)
    return result if return_eigenvectors else result[0]


__all__ = ["eigsh", "eigs", "Result"]
