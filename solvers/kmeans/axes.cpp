#include "tallskinny/solvers/kmeans/axes.hpp"

#include <algorithm>
#include <functional>

#include "tallskinny/gemm/assign/scores/axes.hpp"
#include "tallskinny/gemm/assign/seeding/potential.hpp"
#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr index_t sample_rows = 2048, sample_rows_there = 8192;  ///< on the host, on a device
constexpr index_t more_columns = 16;                             ///< of a random block than axes

/// `count` of `rows` rows, evenly spread.
std::vector<index_t> spread(index_t rows, index_t count) {
  std::vector<index_t> numbers(at(count));
  for (index_t q = 0; q < count; ++q) numbers[at(q)] = q * rows / count;
  return numbers;
}

/// For coordinates about 1.
double scale_of(const ColumnMoments& moments) {
  return 1 / std::max(1e-300, *std::max_element(moments.reach.begin(), moments.reach.end()));
}

/// `count` rows here, evenly spread, less the shift, of coordinates about 1.
Matrix<float> spread_rows(const KMeansProblem& p, index_t count) {
  const index_t d = p.cols();
  Matrix<double> rows(count, d);
  p.load_rows_here(spread(p.rows(), count), rows.view());
  const double scale = scale_of(p.moments);
  Matrix<float> sample(count, d);
  for (index_t q = 0; q < count; ++q)
    for (index_t j = 0; j < d; ++j) sample(q, j) = static_cast<float>((rows(q, j) - p.moments.shift[at(j)]) * scale);
  return sample;
}

/// A share of a diagonal element: with a smaller pivot columns depend on each other.
constexpr double dead = 1e-10;

/// Q with Q R = Z and orthonormal columns to rounding (Fukaya et al. 2014, "CholeskyQR2"); nothing where columns of Z
/// depend on each other.
Matrix<double> cholesky_qr2(const Context& ctx, Matrix<double> z) {
  Matrix<double> g(z.cols(), z.cols());
  for (int round = 0; round < 2; ++round) {
    gram(ctx, Op::transpose, 1.0, z.cview(), 0.0, g.view());
    if (!ortho::cholesky(g.view(), dead)) return {};
    trsm(ctx, z.view(), g.cview());
  }
  return z;
}

template <class To, class From>
Matrix<To> converted(const Matrix<From>& from) {
  Matrix<To> to(from.rows(), from.cols());
  std::transform(from.data(), from.data() + from.rows() * from.cols(), to.data(),
                 [](From x) { return static_cast<To>(x); });
  return to;
}

/// A^T A Z in float32, of a sample A of rows.
using SampleProducts = std::function<Matrix<float>(const Matrix<float>& z)>;

/// Orthonormal, d x `width` or less, about the leading eigenvectors of A^T A, in no order: two steps of subspace
/// iteration from random signs (Halko, Martinsson, Tropp 2011, algorithm 4.3). Where the spectrum falls so steeply that
/// float32 loses columns in the second step, the first serves.
Matrix<double> leading_subspace(const Context& ctx, const SampleProducts& products, index_t d, index_t width) {
  Matrix<float> z(d, width);
  const Philox random{0, 0};
  for (index_t q = 0; q < d * width; q += 64) {
    const std::uint64_t signs = random.bits(static_cast<std::uint64_t>(q / 64));
    for (index_t i = q; i < std::min(q + 64, d * width); ++i)
      z.data()[i] = ((signs >> (i - q)) & 1) != 0 ? 1.0F : -1.0F;
  }
  const Matrix<float> once = products(z);
  if (std::all_of(once.data(), once.data() + d * width, [](float x) { return x == 0; })) return {};
  Matrix<double> axes = cholesky_qr2(ctx, converted<double>(products(once)));
  if (axes.cols() == 0) axes = cholesky_qr2(ctx, converted<double>(once));
  return axes.cols() > 0 ? std::move(axes) : ortho::pivoted_qr(converted<double>(once).cview(), 1e-6).q;
}

/// The inverse of an upper triangle.
Matrix<double> inverse_of(HostView<const double> r) {
  const index_t n = r.rows();
  auto found = Matrix<double>::zeros(n, n);
  for (index_t i = n; i-- > 0;) {
    found(i, i) = 1 / r(i, i);
    for (index_t k = i + 1; k < n; ++k) {
      const double factor = -found(i, i) * r(i, k);
      for (index_t c = k; c < n; ++c) found(i, c) += factor * found(k, c);
    }
  }
  return found;
}

/// Q with Q R = Z, orthonormal as well as the square of Z's condition allows; false where columns of Z depend on each
/// other.
bool orthonormal_there(const Context& ctx, const DeviceMatrix<double>& z, DeviceMatrix<double>& q) {
  DeviceMatrix<double> there(ctx.stream, z.cols(), z.cols());
  gram(ctx, Op::transpose, 1.0, z.cview(), 0.0, there.view());
  Matrix<double> g;
  if (inverse_factor_serves(ctx, z.cols())) {
    if (!inverse_factor(ctx, there, dead)) return false;
  } else {
    g = Matrix<double>(z.cols(), z.cols());
    copy(ctx.stream, g.view(), there.cview());
    ctx.stream.synchronize();
    if (!ortho::cholesky(g.view(), dead) && ctx.stream.rehearsal() == nullptr) return false;
    g = inverse_of(g.cview());
    copy(ctx.stream, there.view(), g.cview());
  }
  tsmm(ctx, Op::none, 1.0, z.cview(), there.cview(), 0.0, q.view());
  ctx.stream.synchronize();
  return true;
}

}  // namespace

Matrix<double> leading_columns(HostView<const double> axes, index_t count) {
  Matrix<double> some(axes.rows(), count);
  for (index_t j = 0; j < axes.rows(); ++j) std::copy_n(&axes(j, 0), count, &some(j, 0));
  return some;
}

Matrix<double> leading_axes(const KMeansProblem& p, index_t most) {
  Context ctx = alone(p.ctx);
  ctx.stream = {};
  const index_t d = p.cols();
  const Matrix<float> a = spread_rows(p, std::min(p.rows(), sample_rows));
  const SampleProducts products = [&](const Matrix<float>& z) {
    Matrix<float> y(a.rows(), z.cols()), found(d, z.cols());
    tsmm(ctx, Op::none, 1.0F, a.cview(), z.cview(), 0.0F, y.view());              // Y = A Z
    tsmttsm(ctx, Op::transpose, 1.0F, a.cview(), y.cview(), 0.0F, found.view());  // A^T Y
    return found;
  };
  const Matrix<double> axes = leading_subspace(ctx, products, d, std::min(d, most + more_columns));
  if (axes.cols() == 0) return Matrix<double>();  // all rows are equal
  // Eigenvectors of Q^T A^T A Q turn axes into the order of their variances.
  const Matrix<double> times_axes = converted<double>(products(converted<float>(axes)));
  Matrix<double> g(axes.cols(), axes.cols());
  tsmttsm(ctx, Op::transpose, 1.0, axes.cview(), times_axes.cview(), 0.0, g.view());
  const auto eigen = ortho::hermitian_eigen<double>(g.cview());
  const index_t kept = std::min(most, axes.cols());
  Matrix<double> turn(axes.cols(), kept), turned(d, kept);
  for (index_t i = 0; i < axes.cols(); ++i)
    for (index_t j = 0; j < kept; ++j) turn(i, j) = eigen.vectors(i, axes.cols() - 1 - j);
  tsmm(ctx, Op::none, 1.0, axes.cview(), turn.cview(), 0.0, turned.view());
  return cholesky_qr2(ctx, std::move(turned));
}

DeviceMatrix<double> leading_space(const Context& ctx, const Rows& x, const ColumnMoments& moments, index_t columns) {
  const index_t d = x.cols(), count = std::min(x.rows(), sample_rows_there);
  DeviceMatrix<double> a(ctx.stream, count, d), y(ctx.stream, count, columns), first(ctx.stream, d, columns),
      second(ctx.stream, d, columns), third(ctx.stream, d, columns);
  gather_rows(ctx, x, spread(x.rows(), count), {a.data(), count * d, Space::device},
              moments.shift, scale_of(moments));
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
