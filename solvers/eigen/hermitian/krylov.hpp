// The basis of a block Krylov method as one value: a Krylov decomposition A V = V H + F B that can be
// expanded, compressed, and widened by any block.
#pragma once

#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/eigen/hermitian/basis_memory.hpp"
#include "tallskinny/solvers/eigen/state.hpp"
#include "tallskinny/solvers/operator.hpp"
#include "tallskinny/solvers/ortho/skeleton.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

/// Below this many rows a second thread gains less than its barriers can cost on a busy machine. The bits are
/// the same.
inline constexpr index_t threaded_rows = 20000;

/// Ritz values in ascending order, their coefficients, and the norms ||B s_i|| of their residuals.
template <class T>
struct Ritz {
  std::vector<double> values;
  Matrix<T> coefficients;
  std::vector<double> residuals;

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(values.size()); }
};

/// Where the time of a Krylov method went, in seconds.
struct KrylovSeconds {
  double applying = 0, orthogonalising = 0, restarting = 0, small = 0;

  KrylovSeconds& operator+=(const KrylovSeconds& more) noexcept {
    applying += more.applying, orthogonalising += more.orthogonalising;
    restarting += more.restarting, small += more.small;
    return *this;
  }
};

/// Block steps, columns that the operator was applied to, directions that died, and the time of it all.
struct KrylovWork {
  index_t steps = 0, applications = 0, dead = 0;
  KrylovSeconds seconds;
};

/// A V = V H + F B with [V F] orthonormal, V n x m, H = V^H A V (Hermitian if A is), F n x f, B f x m. Every
/// column of V and F is also orthogonal to `locked` columns L that stand before them: then A is the operator
/// restricted to the complement of span(L). All blocks are fully orthogonalised. F is kept at its target
/// width: directions that die (an exact invariant subspace was found) are replaced by random ones with zero
/// rows in B. Source: Stewart 2002, "A Krylov-Schur algorithm for large eigenproblems" (the decomposition and
/// its restart); Wu and Simon 2000 (thick restart); the width of F is independent of what a restart keeps.
/// L, V and F are where the operator is at home: on the device of the Context's stream, if that is there,
/// unless they do not fit. H and B are on the host.
template <class T>
class KrylovBasis {
 public:
  /// @param columns of memory for L, V and F together.
  /// @param hermitian false: nothing of a block step is known from the one before; ritz() and restart(),
  /// which are for Hermitian operators, give way to projected() and compress().
  /// @param spills L, V and F stay in page-locked host memory where the operator is on a device.
  KrylovBasis(Context ctx, Operator<T> op, index_t columns, std::uint64_t seed, bool hermitian = true,
              bool spills = false);

  /// What the next start works with. @param columns_applied what one column of it counts in applications().
  /// @param noise rounding errors of its products, in units of u times its norm.
  void replace_operator(Operator<T> op, index_t columns_applied, double noise = 1);
  [[nodiscard]] KrylovWork work() const { return {steps_, applications_, dead_, seconds_}; }
  /// Work that another basis did before counts as done by this one.
  void count_before(const KrylovWork& work) {
    steps_ += work.steps, applications_ += work.applications, dead_ += work.dead;
    seconds_ += work.seconds;
  }
  /// Forgets everything; F = an orthonormal basis of `block`, filled up to `width` with random columns.
  void start(PlacedView<const T> block, index_t width);

  /// One block step: V takes F in, F becomes the orthonormalised remainder of A F.
  /// @throws Error(bad_input) when the operator returns NaN or Inf.
  void expand();
  [[nodiscard]] bool can_expand() const noexcept;

  /// Rayleigh-Ritz on span(V).
  [[nodiscard]] Ritz<T> ritz() const;

  /// Thick restart: V becomes V S for the chosen columns S of `ritz` (ascending indices), H their values, B =
  /// B S. F stays.
  void restart(const Ritz<T>& ritz, const std::vector<index_t>& keep);

  /// V becomes V S, with S orthonormal and its span invariant under H, H becomes S^H H S, B becomes B S. F
  /// stays.
  void compress(HostView<const T> s);

  /// F becomes [F, block] (orthonormalised) with zero rows in B, and stays that wide.
  void widen(PlacedView<const T> block);

  /// Everything in V is locked; F becomes a fresh random block of `width` columns.
  void lock_and_refresh(index_t width);
  /// What lock_and_refresh left behind, for unlock.
  struct Saved {
    PlacedMatrix<T> f;
    Matrix<T> h, b;
    index_t width = 0;
  };
  [[nodiscard]] Saved save() const;
  /// Undoes lock_and_refresh: locked columns are V again, with H, F and B as saved; what was active is
  /// dropped.
  void unlock(const Saved&);

  /// Everything but the operator. @throws Error(bad_input) for a state of other sizes.
  void exchange(StateArchive<T>& archive);
  void exchange(StateArchive<T>& archive, Saved& saved) const;

  /// Y = V S, n x S.cols(), where the basis is.
  [[nodiscard]] PlacedMatrix<T> combine(HostView<const T> s) const;
  /// Y = V S + F C.
  [[nodiscard]] PlacedMatrix<T> combine(HostView<const T> s, HostView<const T> c) const;
  /// The operator applied to a block, counted.
  [[nodiscard]] PlacedMatrix<T> image(PlacedView<const T> x);
  [[nodiscard]] const Matrix<T>& coupling() const noexcept { return b_; }
  [[nodiscard]] const Matrix<T>& projected() const noexcept { return h_; }

  [[nodiscard]] index_t rows() const noexcept { return op_.rows(); }
  [[nodiscard]] index_t size() const noexcept { return m_; }
  [[nodiscard]] index_t width() const noexcept { return f_; }
  [[nodiscard]] index_t locked() const noexcept { return l_; }
  /// True when L, V and F span the whole space and F is empty: the Ritz values are all eigenvalues.
  [[nodiscard]] bool exhausted() const noexcept { return f_ == 0; }
  /// The largest Ritz value or column norm of A V seen: an estimate of ||A|| from below.
  [[nodiscard]] double norm() const noexcept { return norm_; }
  /// The size of the rounding errors in products with the operator.
  [[nodiscard]] double rounding() const noexcept { return roundoff_of<T> * noise_ * norm_; }
  void note_norm(double norm) noexcept { norm_ = norm > norm_ ? norm : norm_; }
  [[nodiscard]] index_t steps() const noexcept { return steps_; }
  [[nodiscard]] index_t applications() const noexcept { return applications_; }
  [[nodiscard]] index_t dead() const noexcept { return dead_; }
  [[nodiscard]] const KrylovSeconds& seconds() const noexcept { return seconds_; }

 private:
  [[nodiscard]] PlacedView<T> columns(index_t first, index_t count) { return v_.columns(first, count); }
  [[nodiscard]] PlacedView<const T> columns(index_t first, index_t count) const {
    return v_.columns(first, count);
  }
  index_t append_to_f(PlacedView<const T> block);
  void fill_with_random();
  [[nodiscard]] PlacedMatrix<T> random_block(index_t width);
  ortho::Extension complete_space(PlacedView<T> w, HostView<T> s, HostView<T> r);
  void move_f_behind(index_t p);
  void prepare();

  Context ctx_;
  Operator<T> op_;
  Space space_;
  index_t columns_;
  std::uint64_t seed_, stream_ = 0;
  bool hermitian_;
  BasisMemory<T> v_;
  Matrix<T> h_, b_;
  PlacedMatrix<T> x_, w_;  ///< a block step's F and A F
  bool x_is_f_ = false;    ///< x_ has the columns of F: a block step left them there
  Matrix<T> stored_;       ///< of a basis on a device: what was stored last
  index_t l_ = 0, m_ = 0, f_ = 0, target_ = 0;
  double norm_ = 0, noise_ = 1;
  index_t weight_ = 1;  ///< applications of A behind one of op_
  index_t steps_ = 0, applications_ = 0, dead_ = 0;
  mutable KrylovSeconds seconds_;
};

/// Columns of a basis, and of a block, that tell the norm of an operator.
inline constexpr index_t norm_columns = 24, norm_block = 2;

/// The largest |Ritz value| or column norm that ten block steps of width 2 give: an estimate of ||A|| from
/// below.
/// @param applications grows by the columns that A was applied to.
template <class T>
[[nodiscard]] double estimate_norm(const Context&, const Operator<T>& a, std::uint64_t seed,
                                   index_t& applications);

/// What block steps of `block` columns against a basis of up to `columns` take on the device of ctx.stream,
/// compiled and loaded ahead of them: a basis does so at its start, but a file may be read meanwhile. Without
/// a device nothing happens.
template <class T>
void prepare_block_steps(const Context&, index_t rows, index_t columns, index_t block);

using ortho::copy_block;

/// X = the numbers of this seed and stream, where X is (gemm/random/fill_random.hpp).
template <class T>
void fill_random(const Context&, std::uint64_t seed, std::uint64_t stream, PlacedView<T> x);

}  // namespace ts::solvers
