#include "tallskinny/solvers/ortho/muscle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/muscle_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace detail {

namespace {

/// pivoted_qr of rows that are distributed, from factors of their parts: X = diag(Q_p) [R_p], and [R_p] = Q R on every
/// rank. Source: Demmel, Grigori, Hoemmen and Langou 2012 (TSQR). NaN and Inf give nothing.
template <class T>
std::optional<PivotedQr<T>> distributed_qr(const Context& ctx, HostView<const T> x, double dead) {
  constexpr index_t reals = is_complex<T> ? 2 : 1;
  const RowParts parts = row_parts(ctx, "HouseholderQr", x.rows());
  const index_t b = x.cols(), size = reals * b * b;
  std::vector<Matrix<T>> q;
  auto factors = Matrix<double>::zeros(parts.count, size);  // each b x b
  for (index_t p = 0; p < parts.here; ++p) {
    const index_t first = p * parts.part_rows, rows = std::min(parts.part_rows, x.rows() - first);
    const auto part = x.rows(first, rows);
    auto f = all_finite(part) ? pivoted_qr<T>(part, 0) : PivotedQr<T>{Matrix<T>(rows, 0), Matrix<T>(0, b), {}};
    if (!all_finite(part)) factors(parts.first + p, 0) = std::numeric_limits<double>::quiet_NaN();
    const auto reals_of_r = as_reals(f.r.cview());
    std::copy_n(reals_of_r.data(), f.r.rows() * reals * b, &factors(parts.first + p, 0));
    q.push_back(std::move(f.q));
  }
  (void)gather_parts(ctx, parts, factors.data(), size);
  if (!all_finite(factors.cview())) return std::nullopt;
  Matrix<T> stacked(parts.count * b, b);
  std::copy_n(factors.data(), parts.count * size, as_reals(stacked.view()).data());
  auto whole = pivoted_qr<T>(stacked.cview(), dead);
  Matrix<T> q_here(x.rows(), whole.q.cols());
  for (index_t p = 0; p < parts.here; ++p) {
    const Matrix<T>& of_part = q[at(p)];
    const auto from = whole.q.cview().rows((parts.first + p) * b, of_part.cols());
    copy<T>(product<T>(of_part.cview(), from).view(), q_here.view().rows(p * parts.part_rows, of_part.rows()));
  }
  whole.q = std::move(q_here);
  return whole;
}

template <class T>
std::optional<PivotedQr<T>> qr_of_all_rows(const Context& ctx, HostView<const T> x, double dead) {
  if (distributed(ctx) || ctx.determinism == Determinism::gpu_to_gpu) return distributed_qr(ctx, x, dead);
  if (!all_finite(x)) return std::nullopt;
  return pivoted_qr<T>(x, dead);
}

}  // namespace

template <class T>
Factored factorise(Tall<T>& tall, HouseholderQr method, PlacedView<T> x, HostView<T> r) {
  tall.count_own_pass(x, true, true);
  Matrix<T> here;
  if (x.space() != Space::host) here = Matrix<T>(x.rows(), x.cols());
  const HostView<T> gathered = x.space() == Space::host ? x.host() : here.view();
  if (x.space() != Space::host) copy_block<T>(tall.context(), x, gathered);
  const auto f = qr_of_all_rows<T>(tall.context(), gathered, method.dead);
  if (!f) return {};
  const index_t rank = f->q.cols();
  copy_block<T>(tall.context(), f->q.cview(), x.cols(0, rank));
  set_zero(r);
  copy<T>(f->r.cview(), r.rows(0, rank));
  return {rank, Rung::householder, {}};
}

template <class T>
Factored factorise(Tall<T>& tall, Ladder method, PlacedView<T> x, HostView<T> r) {
  auto g = gram_of<T>(tall, x);
  if (!all_finite(g.cview())) return {};
  PlacedMatrix<T> input(tall.context(), x.space(), x.rows(), x.cols());
  copy_block<T>(tall.context(), x, input.view());
  const auto full_rank = [&] {
    const auto f = pivoted_qr<T>(r, 0);
    return x.cols() == 0 || f.pivots.back() > method.dead;
  };
  bool columns_alive = x.cols() <= all_rows(tall.context(), x.rows());
  for (index_t j = 0; j < x.cols(); ++j)
    columns_alive = columns_alive && std::real(g(j, j)) > method.dead * method.dead;
  if (columns_alive) {
    if (two_cholesky_steps(tall, std::move(g), x, r) && full_rank()) return {x.cols(), Rung::chol_qr, {}};
    copy_block<T>(tall.context(), input.cview(), x);
    set_identity(r);
    const auto f = factorise(tall, ShiftedCholQr3{}, x, r);
    if (f.rung != Rung::failed && full_rank()) return f;
    copy_block<T>(tall.context(), input.cview(), x);
  }
  const auto f = factorise(tall, Svqb{method.dead}, x, r);
  if (f.rung != Rung::failed) return f;
  copy_block<T>(tall.context(), input.cview(), x);
  return factorise(tall, HouseholderQr{method.dead}, x, r);
}

#define TS_INSTANTIATE(T)                                                              \
  template Factored factorise<T>(Tall<T>&, HouseholderQr, PlacedView<T>, HostView<T>); \
  template Factored factorise<T>(Tall<T>&, Ladder, PlacedView<T>, HostView<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace detail

namespace {

template <class T, class Method>
Factored orthonormalise_by(const Context& ctx, Method method, PlacedView<T> x, HostView<T> r) {
  expects(r.rows() == x.cols() && r.cols() == x.cols(), "R must be b x b for a block of b columns");
  Tall<T> tall(ctx);
  set_identity(r);
  Factored f = detail::factorise(tall, method, x, r);
  f.work = tall.work();
  return f;
}

}  // namespace

template <class T>
Factored orthonormalise(const Context& ctx, Ladder ladder, PlacedView<T> x, HostView<T> r) {
  const UseHostMemory use(ctx.host_memory);
  return orthonormalise_by(ctx, ladder, x, r);
}
template <class T>
Factored orthonormalise(const Context& ctx, HouseholderQr method, PlacedView<T> x, HostView<T> r) {
  const UseHostMemory use(ctx.host_memory);
  return orthonormalise_by(ctx, method, x, r);
}

namespace {

/// Partial sums that are added in a fixed order: the bits do not depend on the number of threads.
constexpr index_t chunk_rows = 1024, most_groups = 32;

/// X^H X from products and sums in float64, b x b; X on a device for float64 and complex128 alone.
template <class T>
Matrix<wide_t<T>> gram_in_float64(const Context& ctx, PlacedView<const T> placed) {
  using W = wide_t<T>;
  const index_t b = placed.cols();
  auto g = Matrix<W>::zeros(b, b);
  if constexpr (std::is_same_v<W, T>) {
    Tall<T>(ctx).gram(placed, g.view());
  } else {
    const HostView<const T> x = placed.host();
    if (ctx.determinism == Determinism::gpu_to_gpu || distributed(ctx)) {  // the engine knows units and ranks
      Matrix<W> wide(x.rows(), b);
      for (index_t i = 0; i < x.rows(); ++i)
        for (index_t j = 0; j < b; ++j) wide(i, j) = x(i, j);
      gram(ctx, Op::adjoint, W{1}, wide.cview(), W{}, g.view());
      return g;
    }
    std::vector<Matrix<W>> partial(at(most_groups));
    Context one = ctx;
    one.threads = 1;
    const index_t chunks = (x.rows() + chunk_rows - 1) / chunk_rows, groups = std::min(chunks, most_groups);
    parallel_pieces(ctx.thread_count(), groups, [&](index_t group, int) {
      auto& sum = partial[at(group)];
      sum = Matrix<W>::zeros(b, b);
      for (index_t c = chunks * group / groups; c < chunks * (group + 1) / groups; ++c) {
        const index_t first = c * chunk_rows, rows = std::min(chunk_rows, x.rows() - first);
        Matrix<W> wide(rows, b);
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < b; ++j) wide(i, j) = x(first + i, j);
        gram(one, Op::adjoint, W{1}, wide.cview(), W{1}, sum.view());
      }
    });
    for (const auto& sum : partial)
      for (index_t i = 0; i < sum.rows(); ++i)
        for (index_t j = 0; j < b; ++j) g(i, j) += sum(i, j);
  }
  return g;
}

/// X^H X - I, in float64.
template <class T>
Matrix<wide_t<T>> gram_less_identity(const Context& ctx, PlacedView<const T> x) {
  auto g = gram_in_float64<T>(ctx, x);
  for (index_t j = 0; j < g.cols(); ++j) g(j, j) -= 1;
  return g;
}

}  // namespace

template <class T>
double loss_of_orthogonality(const Context& ctx, PlacedView<const T> x) {
  const UseHostMemory use(ctx.host_memory);
  if (x.cols() == 0) return 0;
  const auto e = hermitian_eigen<wide_t<T>>(gram_less_identity<T>(ctx, x).cview());  // NaN gives NaN
  return std::max(std::abs(e.values.front()), std::abs(e.values.back()));
}

namespace {

/// ||E||_2 <= both the Frobenius norm and the largest sum along a row, or column, of a Hermitian E.
class BoundOfNorm {
 public:
  /// entry(i) of one row or column of n.
  template <class Entry>
  void add(index_t n, const Entry& entry) {
    double sum = 0;
    for (index_t i = 0; i < n; ++i) {
      const double size = std::abs(entry(i));
      squares_ += size * size, sum += size;
    }
    if (!(sum <= longest_)) longest_ = sum;
  }
  [[nodiscard]] double value() const {
    return std::isnan(squares_) ? squares_ : std::min(std::sqrt(squares_), longest_);
  }

 private:
  double squares_ = 0, longest_ = 0;
};

}  // namespace

template <class T>
double bound_of_loss(const Context& ctx, PlacedView<const T> x) {
  const UseHostMemory use(ctx.host_memory);
  constexpr index_t few = 128;
  const index_t k = x.cols();
  if (k <= few) return loss_of_orthogonality<T>(ctx, x);
  BoundOfNorm bound;
  if (x.space() == Space::host || is_narrow<T>) {
    const auto g = gram_less_identity<T>(ctx, x);
    for (index_t i = 0; i < k; ++i) bound.add(k, [&](index_t j) { return g(i, j); });
    return bound.value();
  }
  // Columns go in groups of one size: the last group begins within the one before.
  Tall<T> tall(ctx);
  Matrix<T> columns(k, few);
  for (index_t next = 0; next < k; next += few) {
    const index_t first = std::min(next, k - few);
    tall.inner(x, x.cols(first, few), columns.view());
    for (index_t j = next - first; j < few; ++j)
      bound.add(k, [&](index_t i) { return columns(i, j) - (i == first + j ? T{1} : T{}); });
  }
  return bound.value();
}

#define TS_INSTANTIATE(T)                                                                         \
  template Factored orthonormalise<T>(const Context&, Ladder, PlacedView<T>, HostView<T>);        \
  template Factored orthonormalise<T>(const Context&, HouseholderQr, PlacedView<T>, HostView<T>); \
  template double loss_of_orthogonality<T>(const Context&, PlacedView<const T>);                  \
  template double bound_of_loss<T>(const Context&, PlacedView<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho
