#include "tallskinny/solvers/ortho/small.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <cmath>
#include <limits>
#include <numeric>

#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/solvers/ortho/lapack.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

// Decompositions are compiled for float64 alone: at these sizes nothing is gained by another type.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;
template <class T>
using Dense = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
Dense<T> widened(HostView<const T> a) {
  Dense<T> w(a.rows(), a.cols());
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) w(i, j) = static_cast<Wide<T>>(a(i, j));
  return w;
}

Context one_thread() {
  Context one;
  one.threads = 1;
  return one;
}

std::vector<index_t> all_of(const std::vector<double>& values) {
  std::vector<index_t> all(values.size());
  std::iota(all.begin(), all.end(), index_t{0});
  return all;
}

}  // namespace

template <class T>
HermitianEigen<T> hermitian_eigen(HostView<const T> h) {
  const index_t n = h.rows();
  HermitianEigen<T> result{std::vector<real_t<T>>(at(n)), Matrix<T>(n, n)};
  if (n == 0) return result;
  if (!all_finite(h)) {
    std::fill(result.values.begin(), result.values.end(), std::numeric_limits<real_t<T>>::quiet_NaN());
    set_identity(result.vectors.view());
    return result;
  }
  const auto take = [&](const auto& values, const auto& vectors) {
    for (index_t i = 0; i < n; ++i) {
      result.values[at(i)] = static_cast<real_t<T>>(values[at(i)]);
      for (index_t j = 0; j < n; ++j) result.vectors(i, j) = static_cast<T>(vectors(i, j));
    }
  };
  if (n > own_columns) {
    Matrix<Wide<T>> wide(n, n);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j <= i; ++j) wide(i, j) = static_cast<Wide<T>>(h(i, j));
    HermitianPairs<Wide<T>> pairs;
    if (lapack_hermitian<Wide<T>>(one_thread(), wide.cview(), n, all_of, pairs)) {
      take(pairs.values, pairs.vectors);
      return result;
    }
  }
  const Eigen::SelfAdjointEigenSolver<Dense<T>> solver(widened(h));
  const std::vector<double> values(solver.eigenvalues().begin(), solver.eigenvalues().end());
  take(values, solver.eigenvectors());
  return result;
}

template <class T>
HermitianPairs<T> hermitian_pairs(const Context& ctx, HostView<const T> h, index_t wanted, const ChoosePairs& choose) {
  const index_t n = h.rows();
  HermitianPairs<T> pairs;
  if (n > own_columns && lapack_hermitian(ctx, h, wanted, choose, pairs)) return pairs;
  auto all = hermitian_eigen<T>(h);
  pairs.values = std::move(all.values), pairs.chosen = choose(pairs.values);
  pairs.vectors = Matrix<T>(n, static_cast<index_t>(pairs.chosen.size()));
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < pairs.vectors.cols(); ++j) pairs.vectors(i, j) = all.vectors(i, pairs.chosen[at(j)]);
  return pairs;
}

template <class T>
PivotedQr<T> pivoted_qr(HostView<const T> x, double dead) {
  const index_t n = x.rows(), b = x.cols();
  PivotedQr<T> result;
  if (n == 0 || b == 0) {
    result.q = Matrix<T>(n, 0), result.r = Matrix<T>(0, b);
    return result;
  }
  const Eigen::ColPivHouseholderQR<Dense<T>> qr(widened(x));
  index_t rank = 0;
  for (index_t j = 0; j < std::min(n, b); ++j) {
    const double pivot = std::abs(qr.matrixQR()(j, j));
    if (rank == j && pivot > dead) ++rank;
    result.pivots.push_back(static_cast<real_t<T>>(pivot));
  }
  Dense<T> q(n, rank);  // without columns Eigen would offset a null pointer
  if (rank > 0) q = qr.householderQ() * Dense<T>::Identity(n, rank);
  result.q = Matrix<T>(n, rank);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < rank; ++j) result.q(i, j) = static_cast<T>(q(i, j));
  result.r = Matrix<T>::zeros(rank, b);
  for (index_t i = 0; i < rank; ++i)
    for (index_t j = i; j < b; ++j)
      result.r(i, qr.colsPermutation().indices()(j)) = static_cast<T>(qr.matrixQR()(i, j));
  return result;
}

template <class T>
SchurForm<T> schur_form(HostView<const T> a) {
  using Decomposition = std::conditional_t<is_complex<T>, Eigen::ComplexSchur<Dense<T>>, Eigen::RealSchur<Dense<T>>>;
  const index_t n = a.rows();
  SchurForm<T> result{Matrix<T>(n, n), Matrix<T>(n, n)};
  if (n > own_columns && all_finite(a) && lapack_schur(a, result)) return result;
  const Decomposition form(widened(a));
  result.converged = form.info() == Eigen::Success;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) result.t(i, j) = form.matrixT()(i, j), result.u(i, j) = form.matrixU()(i, j);
  return result;
}

template <class T>
Svd<T> svd(HostView<const T> a) {
  const index_t m = a.rows(), n = a.cols(), k = std::min(m, n);
  Svd<T> result{Matrix<T>(m, k), std::vector<real_t<T>>(at(k)), Matrix<T>(n, k)};
  if (k == 0) return result;
  const auto take = [&](const auto& values, const auto& u, const auto& v) {  // v(i, j) of V itself
    for (index_t j = 0; j < k; ++j) result.values[at(j)] = static_cast<real_t<T>>(values[at(j)]);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < k; ++j) result.u(i, j) = static_cast<T>(u(i, j));
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < k; ++j) result.v(i, j) = static_cast<T>(v(i, j));
  };
  if (k > own_columns) {
    // Its rows are the columns of A^T = conj(V) Sigma U^T.
    std::vector<Wide<T>> transposed(at(m * n));
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) transposed[at(i * n + j)] = static_cast<Wide<T>>(a(i, j));
    LapackSvd<Wide<T>> parts;
    if (lapack_svd(n, m, transposed, parts)) {
      take(
          parts.values, [&](index_t i, index_t j) { return parts.vh[at(i * k + j)]; },
          [&](index_t i, index_t j) { return conjugate(parts.u[at(j * n + i)]); });
      return result;
    }
  }
  const auto wide = widened(a);
  const Eigen::JacobiSVD<Dense<T>> jacobi(wide, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const std::vector<double> values(jacobi.singularValues().begin(), jacobi.singularValues().end());
  take(values, jacobi.matrixU(), jacobi.matrixV());
  return result;
}

template <class T>
bool cholesky(HostView<T> g, double margin) {
  const index_t n = g.rows();
  for (index_t j = 0; j < n; ++j) {
    const real_t<T> start = std::real(g(j, j));
    real_t<T> pivot = start;
    for (index_t k = 0; k < j; ++k) pivot -= std::norm(g(k, j));
    if (!(pivot > static_cast<real_t<T>>(margin) * start) || !std::isfinite(pivot)) return false;
    const real_t<T> root = std::sqrt(pivot);
    g(j, j) = root;
    for (index_t k = 0; k < j; ++k) {
      const T factor = conjugate(g(k, j));
      for (index_t c = j + 1; c < n; ++c) g(j, c) -= factor * g(k, c);
    }
    for (index_t c = j + 1; c < n; ++c) g(j, c) /= root;
    for (index_t k = 0; k < j; ++k) g(j, k) = T{};
  }
  return true;
}

template <class T>
void multiply_left(HostView<const T> a, HostView<T> r) {
  copy<T>(product<T>(a, r).view(), r);
}

template <class T>
Matrix<T> product(HostView<const T> a, HostView<const T> b) {
  expects(a.cols() == b.rows(), "the factors of a small product do not fit");
  if (std::min({a.rows(), a.cols(), b.cols()}) > own_columns) {
    Matrix<T> large(a.rows(), b.cols());
    tsmm(one_thread(), Op::none, T{1}, a, b, T{0}, large.view());
    return large;
  }
  auto c = Matrix<T>::zeros(a.rows(), b.cols());
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t k = 0; k < a.cols(); ++k) {
      const T aik = a(i, k);
      for (index_t j = 0; j < b.cols(); ++j) c(i, j) += aik * b(k, j);
    }
  return c;
}

template <class T>
void add(HostView<T> a, HostView<const T> b) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) a(i, j) += b(i, j);
}

template <class T>
void copy(HostView<const T> from, HostView<T> to) {
  for (index_t i = 0; i < to.rows(); ++i)
    for (index_t j = 0; j < to.cols(); ++j) to(i, j) = from(i, j);
}

template <class T>
void set_zero(HostView<T> a) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) a(i, j) = T{};
}

template <class T>
void set_identity(HostView<T> a) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) a(i, j) = i == j ? T{1} : T{};
}

template <class T>
bool all_finite(HostView<const T> a) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j)
      if (!std::isfinite(std::real(a(i, j))) || !std::isfinite(std::imag(a(i, j)))) return false;
  return true;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, hermitian_eigen)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, pivoted_qr)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, svd)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, cholesky)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, multiply_left)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, product)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, add)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, copy)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, set_zero)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, set_identity)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, all_finite)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, hermitian_pairs)
template SchurForm<double> schur_form<double>(HostView<const double>);
template SchurForm<std::complex<double>> schur_form<std::complex<double>>(HostView<const std::complex<double>>);

}  // namespace ts::inline v0::ortho
