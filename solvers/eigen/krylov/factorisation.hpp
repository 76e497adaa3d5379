// A block Krylov method as a value that can be stepped: A V = V H + F B.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/eigen/krylov/basis_memory.hpp"
#include "tallskinny/solvers/eigen/values/state.hpp"
#include "tallskinny/solvers/eigen/values/work.hpp"
#include "tallskinny/solvers/operator.hpp"
#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// Below this many rows a second thread gains less than its barriers can cost on a busy machine. The bits are
/// the same.
inline constexpr index_t threaded_rows = 20000;

/// The basis and the block from which a norm is estimated (estimate_norm).
inline constexpr index_t norm_columns = 24, norm_block = 2;

/// What operations with a basis read of it. Kernels of a GPU are compiled for the width of their operands: there what
/// is behind L, V and F is zero, and operations read whole blocks. Where a basis is small they take no longer with all
/// of its columns, so that one width serves a run.
enum class BasisReach { in_use, blocks, all };
/// All columns on a device where they have at most 16 MiB, which takes 6 us to read, or are few.
[[nodiscard]] constexpr BasisReach basis_reach(Space space, index_t rows, index_t columns,
                                               std::size_t element_bytes) noexcept {
  constexpr index_t small = index_t{16} << 20, few = norm_columns;
  const bool whole = columns <= few || rows * columns * static_cast<index_t>(element_bytes) <= small;
  if (space == Space::host) return BasisReach::in_use;
  return whole ? BasisReach::all : BasisReach::blocks;
}
/// Columns that an operation with the first `count` of a basis reads, in steps of blocks of `block`.
[[nodiscard]] constexpr index_t columns_read(BasisReach reach, index_t count, index_t block, index_t all) noexcept {
  if (reach == BasisReach::in_use) return count;
  const index_t step = whole_blocks(std::max<index_t>(block, 1));
  return reach == BasisReach::all ? all : std::min(all, (count + step - 1) / step * step);
}

/// A V = V H + F B with [V F] orthonormal, V n x m, H = V^H A V (Hermitian if A is), F n x f, B f x m. Every
/// column of V and F is also orthogonal to `locked` columns L that stand before them: then A is the operator
/// restricted to the complement of span(L). All blocks are fully orthogonalised. F is kept at its target
/// width: directions that die (an exact invariant subspace was found) are replaced by random ones with zero
/// rows in B. Source: Stewart 2002, "A Krylov-Schur algorithm for large eigenproblems" (the decomposition and
/// its restart); the width of F is independent of what a restart keeps.
///
/// L, V and F are where the operator is at home: on the device of the Context's stream, if that is there,
/// unless they do not fit. H and B are on the host. What is built from it is in ritz.hpp.
template <class T>
class KrylovFactorisation {
 public:
  /// @param columns of memory for L, V and F together.
  /// @param hermitian false: nothing of a block step is known from the one before.
  /// @param spills L, V and F stay in page-locked host memory where the operator is on a device.
  /// @param reach nothing: as basis_reach says.
  KrylovFactorisation(Context ctx, Operator<T> op, index_t columns, std::uint64_t seed, bool hermitian = true,
                      bool spills = false, std::optional<BasisReach> reach = {});

  /// Forgets everything; F = an orthonormal basis of `block`, filled up to `width` with random columns.
  void start(PlacedView<const T> block, index_t width);
  /// One block step: V takes F in, F becomes the orthonormalised remainder of A F.
  /// @throws Error(bad_input) when the operator returns NaN or Inf.
  void expand();
  [[nodiscard]] bool can_expand() const noexcept;
  /// V <- V S, H <- `h`, B <- `b`; F stays. For an orthonormal S whose span is invariant under H it remains a
  /// factorisation with h = S^H H S and b = B S.
  void shrink(HostView<const T> s, Matrix<T> h, Matrix<T> b);
  /// F <- [F, block] (orthonormalised) with zero rows in B, and stays that wide.
  void widen(PlacedView<const T> block);
  /// F becomes empty, which gives up couplings B; the next one is `width` wide.
  void drop_residual(index_t width);

  /// What is needed to come back from lock().
  struct Saved {
    PlacedMatrix<T> f;
    Matrix<T> h, b;
    index_t width = 0;
  };
  /// L <- [L V]; F becomes a fresh random block of `width` columns.
  [[nodiscard]] Saved lock(index_t width);
  /// Undoes lock(): V, H, F and B as they were, what was found since is dropped.
  void unlock(const Saved&);

  /// What the next start works with. @param columns_applied what one column of it counts in the work.
  /// @param noise rounding errors of its products, in units of u times its norm.
  void replace_operator(Operator<T> op, index_t columns_applied, double noise = 1);

  /// Everything but the operator. @throws Error(bad_input) for a state of other sizes.
  void exchange(StateArchive<T>& archive);
  void exchange(StateArchive<T>& archive, Saved& saved) const;

  [[nodiscard]] PlacedView<const T> v() const { return columns(l_, m_); }
  [[nodiscard]] PlacedView<const T> f() const { return columns(l_ + m_, f_); }
  /// V S + F C; C of no columns: V S.
  [[nodiscard]] PlacedMatrix<T> combine(HostView<const T> s, HostView<const T> c = {}) const;
  [[nodiscard]] const Matrix<T>& h() const noexcept { return h_; }
  [[nodiscard]] const Matrix<T>& b() const noexcept { return b_; }
  [[nodiscard]] const Context& context() const noexcept { return ctx_; }
  [[nodiscard]] const Operator<T>& op() const noexcept { return op_; }
  /// Those here, and those of all ranks: the dimension.
  [[nodiscard]] index_t rows() const noexcept { return op_.rows(); }
  [[nodiscard]] index_t all_rows() const { return ts::all_rows(ctx_, rows()); }
  [[nodiscard]] index_t size() const noexcept { return m_; }
  [[nodiscard]] index_t width() const noexcept { return f_; }
  [[nodiscard]] index_t locked() const noexcept { return l_; }
  /// True when L, V and F span the whole space and F is empty: the Ritz values are all eigenvalues.
  [[nodiscard]] bool exhausted() const noexcept { return f_ == 0; }
  /// The largest Ritz value or column norm of A V seen: an estimate of ||A|| from below.
  [[nodiscard]] double norm() const noexcept { return norm_; }
  void note_norm(double norm) noexcept { norm_ = norm > norm_ ? norm : norm_; }
  /// The size of the rounding errors in products with the operator.
  [[nodiscard]] double rounding() const noexcept { return roundoff_of<T> * noise_ * norm_; }
  /// What has been done; others add what they do with it.
  [[nodiscard]] const KrylovWork& work() const noexcept { return work_; }
  [[nodiscard]] KrylovWork& work() noexcept { return work_; }
  /// What a column that the operator is applied to counts.
  [[nodiscard]] index_t weight() const noexcept { return weight_; }

 private:
  [[nodiscard]] PlacedView<T> columns(index_t first, index_t count) { return basis_.columns(first, count); }
  [[nodiscard]] PlacedView<const T> columns(index_t first, index_t count) const { return basis_.columns(first, count); }
  /// How many columns an operation with the first `count` ones reads.
  [[nodiscard]] index_t reach(index_t count) const noexcept {
    return columns_read(reach_, count, target_, basis_.width());
  }
  /// S, of V, as a factor of the first `count` columns.
  [[nodiscard]] Matrix<T> of_columns(index_t count, HostView<const T> s, index_t width) const;
  void clear(index_t first, index_t end);
  void prepare();
  [[nodiscard]] PlacedMatrix<T> random_block(index_t width);
  void append_to_f(PlacedView<const T> block, index_t most);
  void fill_with_random();
  void apply_to(PlacedView<const T> x, PlacedView<T> w);
  [[nodiscard]] Matrix<T> known_coefficients(PlacedView<const T> x, PlacedView<const T> w) const;
  ortho::Extension complete_space(PlacedView<T> w, HostView<T> s, HostView<T> r);
  void take_in(HostView<const T> s, HostView<const T> r);
  void move_f_behind(index_t p);

  Context ctx_;
  Operator<T> op_;
  Space space_;
  index_t columns_;
  std::uint64_t seed_, stream_ = 0;
  bool hermitian_;
  BasisMemory<T> basis_;  ///< L, V, F
  BasisReach reach_;      ///< but for in_use, what is behind L, V and F is zero
  Matrix<T> h_, b_;
  PlacedMatrix<T> x_, w_;  ///< a block step's F and A F
  bool x_is_f_ = false;    ///< x_ has the columns of F: a block step left them there
  Matrix<T> stored_;       ///< of a basis on a device: what was stored last
  index_t l_ = 0, m_ = 0, f_ = 0, target_ = 0;
  double norm_ = 0, noise_ = 1;
  index_t weight_ = 1;  ///< applications of A behind one of op_
  KrylovWork work_;
};

/// What block steps of `block` columns against a basis of up to `columns` take on the device of ctx.stream, and
/// `wanted` vectors made of it, compiled and loaded ahead of them: a factorisation does so at its start, but a file may
/// be read meanwhile. Without a device nothing happens.
template <class T>
void prepare_block_steps(const Context&, index_t rows, index_t columns, index_t block, index_t wanted);

}  // namespace ts::inline v0::solvers
