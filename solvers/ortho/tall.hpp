// The operations on tall matrices that orthonormalisation is made of, and what they cost.
#pragma once

#include <span>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/core/problem.hpp"

namespace ts::inline v0::ortho {

/// Counts of work on tall matrices, raised as the work is done.
struct Work {
  int reductions = 0;                        ///< sums over all rows: a synchronisation each where rows are distributed
  index_t basis_columns = 0;                 ///< columns of the basis V read: V of m columns read twice counts 2 m
  index_t block_columns = 0;                 ///< columns of the block X read, counted in the same way
  double read_bytes = 0, written_bytes = 0;  ///< the least traffic of the operations

  Work& operator+=(const Work& more) noexcept;
  [[nodiscard]] double bytes() const noexcept { return read_bytes + written_bytes; }
};

/// The one place where solvers touch tall matrices, on the processor or on the device of the Context's
/// stream: operands of a call are in one place, but a V of host memory passes to blocks on the device.
/// Small matrices (S, G, R) are on the host. All that sums over rows is counted here. A call that gives one
/// waits for it, no other does. X, W: n x b blocks, V: the n x m basis. T: one of the four result types.
/// Errors as of the engine's operations.
template <class T>
class Tall {
 public:
  explicit Tall(const Context& ctx) noexcept : ctx_(ctx) {}
  [[nodiscard]] const Context& context() const noexcept { return ctx_; }
  [[nodiscard]] const Work& work() const noexcept { return work_; }

  /// S = V^H W
  void inner(PlacedView<const T> v, PlacedView<const T> w, HostView<T> s);
  /// G = X^H X
  void gram(PlacedView<const T> x, HostView<T> g);
  /// S = V^H W and G = W^H W in one reduction
  void inner_and_gram(PlacedView<const T> v, PlacedView<const T> w, HostView<T> s, HostView<T> g);
  /// W = W - V S
  void subtract(PlacedView<const T> v, HostView<const T> s, PlacedView<T> w);
  /// W = W - V S, then S_next = V^H W and G = W^H W, with one pass over V; S_next may be empty.
  void project_out(PlacedView<const T> v, HostView<const T> s, PlacedView<T> w, HostView<T> s_next, HostView<T> g);
  /// X = X R^-1
  void solve(PlacedView<T> x, HostView<const T> r);
  /// Y = alpha X S + beta Y
  void combine(T alpha, PlacedView<const T> x, HostView<const T> s, T beta, PlacedView<T> y);
  /// Y = alpha X + beta Y
  void add(T alpha, PlacedView<const T> x, T beta, PlacedView<T> y);
  /// X(:, 0 .. q-1) = X S
  void multiply(PlacedView<T> x, HostView<const T> s);
  /// norms[j] = ||X(:, j)||
  void norms(PlacedView<const T> x, std::span<real_t<T>> norms);

  /// Something that is no operation of the engine read (and wrote) the block X once and summed over its rows.
  void count_own_pass(PlacedView<const T> x, bool reduces, bool writes) noexcept;

 private:
  void count(const Problem& problem, bool reduces, bool reads_basis);

  const Context& ctx_;
  Work work_;
};

using ts::copy_block;

}  // namespace ts::inline v0::ortho
