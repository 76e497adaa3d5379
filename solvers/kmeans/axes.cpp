// The axes along which rows differ most.
#include <algorithm>

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection.hpp"
#include "tallskinny/solvers/kmeans/seeding/potential.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t sample_rows = 8192;

/// `count` of `rows` rows, evenly spread.
std::vector<index_t> spread(index_t rows, index_t count) {
  std::vector<index_t> numbers(at(count));
  for (index_t q = 0; q < count; ++q) numbers[at(q)] = q * rows / count;
  return numbers;
}

/// For coordinates about 1.
double scale_of(const ColumnMoments& moments) {
  return 1 / std::max(1e-300, *std::max_element(moments.max_abs.begin(), moments.max_abs.end()));
}

/// A share of a diagonal element: with a smaller pivot columns depend on each other.
constexpr double dead = 1e-10;

/// Q with Q R = Z, orthonormal as well as the square of Z's condition allows; false where columns of Z depend on each
/// other.
bool orthonormal_there(const Context& ctx, const DeviceMatrix<double>& z, DeviceMatrix<double>& q) {
  DeviceMatrix<double> there(ctx.stream, z.cols(), z.cols());
  gram(ctx, Op::transpose, 1.0, z.cview(), 0.0, there.view());
  if (!assign_device::inverse_factor(ctx, there, dead)) return false;
  tsmm(ctx, Op::none, 1.0, z.cview(), there.cview(), 0.0, q.view());
  ctx.stream.synchronize();
  return true;
}

}  // namespace

DeviceMatrix<double> leading_space(const Context& ctx, const Rows& x, const ColumnMoments& moments, index_t columns) {
  const index_t d = x.cols(), count = std::min(x.rows(), sample_rows);
  DeviceMatrix<double> a(ctx.stream, count, d), y(ctx.stream, count, columns), first(ctx.stream, d, columns),
      second(ctx.stream, d, columns), third(ctx.stream, d, columns);
  gather_rows(ctx, x, spread(x.rows(), count), {a.data(), count * d, Space::device}, moments.shift, scale_of(moments));
  const auto multiply = [&](const DeviceMatrix<double>& z, DeviceMatrix<double>& found) {
    tsmm(ctx, Op::none, 1.0, a.cview(), z.cview(), 0.0, y.view());
    tsmttsm(ctx, Op::transpose, 1.0, a.cview(), y.cview(), 0.0, found.view());
  };
  fill_random<double>(ctx, Philox{0, 0}, first.view());
  multiply(first, second);
  if (!orthonormal_there(ctx, second, first)) {  // of fewer dimensions
    Matrix<double> once(d, columns);
    copy(ctx.stream, once.view(), second.cview());
    ctx.stream.synchronize();
    if (std::all_of(once.data(), once.data() + d * columns, [](double v) { return v == 0; })) return {};
    const Matrix<double> found = ortho::pivoted_qr(once.cview(), 1e-6).q;
    DeviceMatrix<double> there(ctx.stream, d, found.cols());
    copy(ctx.stream, there.view(), found.cview());
    ctx.stream.synchronize();
    return there;
  }
  multiply(first, second), multiply(second, third);
  if (orthonormal_there(ctx, third, second)) return second;
  multiply(first, second);  // the spectrum falls too steeply for both steps at once
  return orthonormal_there(ctx, second, third) ? std::move(third) : std::move(first);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
