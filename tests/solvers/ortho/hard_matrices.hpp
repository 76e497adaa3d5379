// The matrices that separate block Gram-Schmidt variants: condition numbers by construction.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"
#include "tallskinny/solvers/random.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::test {

template <class T>
Matrix<T> random_matrix(index_t n, index_t p, std::uint64_t stream) {
  const solvers::Random random(20261121, stream);
  Matrix<T> x(n, p);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < p; ++j) {
      const auto z = random.normal2(static_cast<std::uint64_t>(i * p + j));
      if constexpr (is_complex<T>)
        x(i, j) = {z[0], z[1]};
      else
        x(i, j) = z[0];
    }
  return x;
}

template <class T>
Matrix<T> random_orthonormal(index_t n, index_t p, std::uint64_t stream) {
  auto x = random_matrix<T>(n, p, stream);
  Matrix<T> r(p, p);
  ortho::orthonormalise<T>(Context{}, ortho::HouseholderQr{}, x.view(), r.view());
  return x;
}

/// U diag(10^from .. 10^to) W^H with random orthonormal U (n x p) and W (p x p).
template <class T>
Matrix<T> graded(index_t n, index_t p, double from, double to, std::uint64_t stream) {
  auto u = random_orthonormal<T>(n, p, stream);
  const auto w = random_orthonormal<T>(p, p, stream + 1);
  for (index_t j = 0; j < p; ++j) {
    const double d = std::pow(10.0, from + (to - from) * static_cast<double>(j) / static_cast<double>(p - 1));
    for (index_t i = 0; i < n; ++i) u(i, j) *= d;
  }
  Matrix<T> a(n, p);
  tsmm(Context{}, Op::adjoint, T{1}, u.cview(), w.cview(), T{0}, a.view());
  return a;
}

struct HardMatrix {
  std::string name;
  Matrix<double> x;
};

/// The twelve matrices of the acceptance table (1000 x 100, blocks of 5) and four that lose rank.
inline std::vector<HardMatrix> hard_matrices() {
  constexpr index_t n = 1000, p = 100, s = 5;
  std::vector<HardMatrix> all;
  for (const int t : {4, 8, 12})
    all.push_back({"default 1e" + std::to_string(t), graded<double>(n, p, 0, -t, 1)});
  for (const int t : {8, 12}) {
    auto a = graded<double>(n, p, 0, t / 2.0, 2);
    const auto w = random_orthonormal<double>(2 * s, 2 * s, 3);
    Matrix<double> scaled_w(2 * s, 2 * s);  // diag(10^0 .. 10^(t/2)) W^H
    for (index_t i = 0; i < 2 * s; ++i)
      for (index_t j = 0; j < 2 * s; ++j)
        scaled_w(i, j) = std::pow(10.0, t / 2.0 * static_cast<double>(i) / (2 * s - 1)) * w(j, i);
    for (index_t j = 0; j < p; j += 2 * s)
      tsmm_in_place(Context{}, Op::none, 1.0, a.view().cols(j, 2 * s), scaled_w.cview());
    all.push_back({"glued " + std::to_string(t), std::move(a)});
  }
  for (const double mu : {1e-5, 1e-7, 1e-11}) {
    auto a = Matrix<double>::zeros(n, p);
    for (index_t j = 0; j < p; ++j) a(0, j) = 1, a(j + 1, j) = mu;
    all.push_back({"laeuchli " + std::to_string(std::log10(mu)), std::move(a)});
  }
  for (const index_t power : {5, 10}) {
    auto b = random_matrix<double>(n, p / power, 4);
    Matrix<double> a(n, p);
    for (index_t k = 0; k < power; ++k)
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < p / power; ++j) {
          a(i, k + j * power) = b(i, j) / 50;
          b(i, j) *= 0.1 + 0.9 * static_cast<double>(i) / (n - 1);
        }
    all.push_back({"monomial " + std::to_string(power), std::move(a)});
  }
  for (const int c : {-4, -9}) {
    Matrix<double> a(n, p);
    for (index_t j = 0; j < p; j += 2 * s) {
      const auto piece = graded<double>(n, 2 * s, 0, j == 0 ? 4 : c, static_cast<std::uint64_t>(100 + j));
      for (index_t i = 0; i < n; ++i)
        for (index_t k = 0; k < 2 * s; ++k) a(i, j + k) = piece(i, k) + (j == 0 ? 0 : a(i, j + k - 2 * s));
    }
    all.push_back({"piled " + std::to_string(c), std::move(a)});
  }
  {
    auto a = graded<double>(n, p, 0, -2, 5);
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 50; j < 60; ++j) a(i, j) = a(i, j - 50);  // duplicates of earlier blocks
      a(i, 71) = a(i, 70);                                       // and inside a block
      a(i, 80) = 0;
    }
    all.push_back({"duplicate and zero columns", std::move(a)});
  }
  all.push_back({"half zero", Matrix<double>::zeros(n, p)});
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < p; j += 2) all.back().x(i, j) = std::sin(static_cast<double>((i + 1) * (j + 1)));
  all.push_back({"rank 7", Matrix<double>(n, p)});
  {
    const auto u = random_matrix<double>(n, 7, 6);
    const auto w = random_matrix<double>(7, p, 7);
    tsmm(Context{}, Op::none, 1.0, u.cview(), w.cview(), 0.0, all.back().x.view());
  }
  all.push_back({"hilbert", Matrix<double>(n, p)});
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < p; ++j) all.back().x(i, j) = 1.0 / static_cast<double>(i + j + 1);
  return all;
}

/// max |A - B|
template <class T>
double distance(HostView<const T> a, HostView<const T> b) {
  double worst = 0;
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) {
      const double d = std::abs(a(i, j) - b(i, j));
      if (!(d <= worst)) worst = d;
    }
  return worst;
}

}  // namespace ts::test
