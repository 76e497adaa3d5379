// Sparse matrices factorised: one interface, and a backend for each library that does it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/placed.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// A = L U of any square matrix, or A = L D L^H of a Hermitian one.
enum class FactorKind { lu, ldl };

/// Who factorises: cuDSS where there is a GPU and the library is found at run time; MUMPS where it was found when this
/// was built and is there; or Eigen, which is slower and does not pivot in L D L^H. best: the first of them, but an
/// L D L^H of few flops a row, which gains nothing from fronts, is a simplicial one. with_pivots: MUMPS or Eigen.
/// Where rows are distributed over ranks, rank 0 does it by one of these, with the bits of one rank; or all do
/// (mumps_on_ranks), by a MUMPS for Open MPI that is found at run time, whose bits are others in every run.
enum class DirectBackend { best, with_pivots, cudss, mumps, eigen, mumps_on_ranks };

/// What an analysis tells of the factorisations to come.
struct FactorEstimate {
  std::string_view by;  ///< the library
  double flops = 0;     ///< 0: not known
  double bytes = 0;     ///< of factors and workspace, on this rank; 0: not known
  double entries = 0;   ///< of L; 0: not known
};

/// A square sparse matrix, analysed once and factorised for any values on its pattern. T: double or complex<double>.
/// One of rows that are distributed over ranks is made and used by all of them together: each gives the rows of its
/// slab, with column numbers of the whole, and blocks by the same rows.
template <class T>
class DirectSolver {
 public:
  DirectSolver() = default;
  DirectSolver(const DirectSolver&) = delete;
  DirectSolver& operator=(const DirectSolver&) = delete;
  virtual ~DirectSolver() = default;

  [[nodiscard]] virtual FactorEstimate estimate() const noexcept = 0;
  /// Where the factors are.
  [[nodiscard]] virtual Space space() const noexcept { return Space::host; }
  /// The order of elimination, as analyse() takes it for a matrix of the same pattern; empty: has none.
  [[nodiscard]] virtual std::vector<int> order() const { return {}; }
  /// Factorises a matrix with the pattern that was analysed; false where a pivot is zero.
  /// @throws Error(out_of_memory)
  [[nodiscard]] virtual bool factorise(CsrView<T> a) = 0;
  /// X = A^-1 B, or A^-H B for Op::adjoint, n x p, in one place, wherever that is. Calls from several threads wait for
  /// each other.
  virtual void solve(const Context&, Op, PlacedView<const T> b, PlacedView<T> x) const = 0;
  void solve(const Context& ctx, PlacedView<const T> b, PlacedView<T> x) const { solve(ctx, Op::none, b, x); }
  /// After factorise() of this matrix: from now on solve() takes as many steps of iterative refinement as its backward
  /// error needs to fall below `enough`; pivots of zero are moved away from it. Returns the error; inf: a few steps do
  /// not serve, or there are none. Source: Li and Demmel 1998, "Making sparse Gaussian elimination scalable by static
  /// pivoting".
  [[nodiscard]] virtual double refine(const Context&, CsrView<T> a, double enough) {
    (void)a, (void)enough;
    return inf;
  }
  /// X = A^-1 B by the factors alone, where solve() refines: negative() is of the matrix that these reproduce.
  virtual void solve_once(const Context& ctx, PlacedView<const T> b, PlacedView<T> x) const { solve(ctx, b, x); }
  /// How far pivots were moved away from zero: the factors are those of a matrix that differs by that much more.
  [[nodiscard]] virtual double moved_pivots() const noexcept { return 0; }
  /// The number of negative eigenvalues of the matrix that was factorised, but for the error of its factors, by
  /// Sylvester's law of inertia; nothing where the factors do not tell.
  [[nodiscard]] virtual std::optional<index_t> negative() const = 0;
};

/// Orders and analyses a square matrix, of which both triangles are stored and no entry twice; its values, which may
/// steer the order, are those of the first factorisation.
/// @param gpu of cuDSS; none: factors are made and applied on the processor.
/// @throws Error(invalid_argument) for a backend that is not there.
template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse(CsrView<T> a, FactorKind, DirectBackend = DirectBackend::best,
                                                       const std::vector<int>& order = {},
                                                       const cuda::Stream& gpu = {});
/// What an L D L^H takes in an approximate minimum degree order, which costs some passes over the pattern; flops are
/// inf where they are more than `most_flops`. @param order becomes that, where analyse() takes it
template <class T>
[[nodiscard]] FactorEstimate sketch_factors(CsrView<T> a, double most_flops, std::vector<int>& order);
/// analyse() for rows that are distributed over the ranks of ctx; with one rank it is the same.
/// @param order what another one has told this rank
template <class T>
[[nodiscard]] std::unique_ptr<DirectSolver<T>> analyse(const Context& ctx, CsrView<T> own, FactorKind,
                                                       DirectBackend = DirectBackend::best,
                                                       const std::vector<int>& order = {},
                                                       const cuda::Stream& gpu = {});
/// Whether DirectBackend::mumps_on_ranks is there on all ranks, which ask together.
[[nodiscard]] bool has_mumps_on_ranks(const Context& ctx);

/// Errors of x = solver.solve(b) for a random b, with ||A|| the largest absolute row sum; inf where x is not finite.
struct SolveError {
  double backward = 0;  ///< ||b - A x|| / (||A|| ||x|| + ||b||)
  double residual = 0;  ///< ||b - A x|| / ||b||
};
template <class T>
[[nodiscard]] SolveError solve_error(const Context&, CsrView<T> own, const DirectSolver<T>& solver);
template <class T>
[[nodiscard]] double backward_error(const Context&, CsrView<T> own, const DirectSolver<T>& solver);

/// Factorises and returns the backward error; inf: cannot be factorised. Where the error is not near rounding, or a
/// pivot is zero, factors without pivots are refined. Where that does not serve, `solver` becomes one of the processor
/// that pivots, or Eigen's, which pivots more freely, if the matrix is not large.
template <class T>
[[nodiscard]] double factorise_well(const Context&, std::unique_ptr<DirectSolver<T>>& solver, CsrView<T> own,
                                    FactorKind kind);

}  // namespace ts::inline v0::solvers
