#include "tallskinny/app/generators/matrices.hpp"

#include <cmath>
#include <numbers>

#include "tallskinny/app/generators/assemble.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::generators {

namespace {

using std::numbers::pi;

double real(index_t x) { return static_cast<double>(x); }

/// A tridiagonal matrix: below(i) stands at (i, i - 1), at(i) at (i, i), above(i) at (i, i + 1).
template <class Below, class At, class Above>
CsrMatrix<double> tridiagonal(index_t n, Below below, At at, Above above) {
  return assemble<double>(n, n, 3, [&](index_t i, RowEntries<double>& entries) {
    if (i > 0) entries.add(i - 1, below(i));
    entries.add(i, at(i));
    if (i + 1 < n) entries.add(i + 1, above(i));
  });
}

template <class Value>
std::vector<double> values_of(index_t n, Value value) {
  expects(n >= 0, "a generated matrix needs non-negative rows and columns");
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(n));
  for (index_t j = 1; j <= n; ++j) values.push_back(value(j));
  return values;
}

CsrMatrix<double> diagonal(const std::vector<double>& values) {
  return assemble<double>(std::ssize(values), std::ssize(values), 1, [&](index_t i, RowEntries<double>& entries) {
    entries.add(i, values[static_cast<std::size_t>(i)]);
  });
}

std::vector<double> cluster_values(index_t n, index_t clusters, double spread) {
  expects(clusters >= 1, "a clustered spectrum needs at least one cluster");
  return values_of(n, [=](index_t j) {
    const index_t row = j - 1, cluster = row % clusters, members = (n - cluster + clusters - 1) / clusters;
    const double place = members > 1 ? real(row / clusters) / real(members - 1) - 0.5 : 0.0;
    return real(cluster + 1) + spread * place;
  });
}

}  // namespace

CsrMatrix<double> identity(index_t n) {
  return diagonal(values_of(n, [](index_t) { return 1.0; }));
}
Spectrum identity_spectrum(index_t n) {
  return Spectrum(values_of(n, [](index_t) { return 1.0; }));
}

CsrMatrix<double> diagonal_clusters(index_t n, index_t clusters, double spread) {
  return diagonal(cluster_values(n, clusters, spread));
}
Spectrum diagonal_clusters_spectrum(index_t n, index_t clusters, double spread) {
  return Spectrum(cluster_values(n, clusters, spread));
}

CsrMatrix<double> clement(index_t n) {
  const auto beside = [n](index_t i) { return std::sqrt(real(i) * real(n - i)); };
  return assemble<double>(n, n, 2, [&](index_t i, RowEntries<double>& entries) {
    if (i > 0) entries.add(i - 1, beside(i));
    if (i + 1 < n) entries.add(i + 1, beside(i + 1));
  });
}
Spectrum clement_spectrum(index_t n) {
  return Spectrum(values_of(n, [n](index_t j) { return real(2 * j - n - 1); }));
}

CsrMatrix<double> sakurai(index_t n) {
  return assemble<double>(n, n, 5, [n](index_t i, RowEntries<double>& entries) {
    entries.add(i, 6.0 - (i == 0 ? 1 : 0) - (i == n - 1 ? 1 : 0));
    for (const index_t step : {index_t{-2}, index_t{-1}, index_t{1}, index_t{2}})
      if (i + step >= 0 && i + step < n) entries.add(i + step, step % 2 != 0 ? -4.0 : 1.0);
  });
}
Spectrum sakurai_spectrum(index_t n) {
  return Spectrum(
      values_of(n, [n](index_t j) { return 16 * std::pow(std::sin(real(j) * pi / (2 * real(n + 1))), 4); }));
}

Matrix<double> minij(index_t n) {
  Matrix<double> a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) a(i, j) = real(std::min(i, j) + 1);
  return a;
}
Spectrum minij_spectrum(index_t n) {
  return Spectrum(values_of(n, [n](index_t j) {
    const double s = std::sin(real(2 * j - 1) * pi / real(4 * n + 2));
    return 1 / (4 * s * s);
  }));
}

Pencil mikota(index_t n) {
  const auto beside = [n](index_t i) { return -real(n - i); };
  return {tridiagonal(
              n, beside, [n](index_t i) { return real(2 * (n - i) - 1); }, [&](index_t i) { return beside(i + 1); }),
          diagonal(values_of(n, [](index_t j) { return 1 / real(j); }))};
}
Spectrum mikota_spectrum(index_t n) {
  return Spectrum(values_of(n, [](index_t j) { return real(j) * real(j); }));
}

CsrMatrix<double> toeplitz(index_t n, double below, double at, double above) {
  return tridiagonal(
      n, [=](index_t) { return below; }, [=](index_t) { return at; }, [=](index_t) { return above; });
}
std::vector<std::complex<double>> toeplitz_spectrum(index_t n, double below, double at, double above) {
  expects(n >= 0, "a generated matrix needs non-negative rows and columns");
  const std::complex<double> radius = 2.0 * std::sqrt(std::complex<double>(below * above));
  std::vector<std::complex<double>> values;
  for (index_t j = 1; j <= n; ++j) values.push_back(at + radius * std::cos(real(j) * pi / real(n + 1)));
  return values;
}

CsrMatrix<double> circulant(index_t n, const std::vector<double>& coefficients) {
  const index_t width = std::min(n, static_cast<index_t>(std::ssize(coefficients)));
  return assemble<double>(n, n, width, [&](index_t i, RowEntries<double>& entries) {
    for (index_t j = 0; j < width; ++j) entries.add((i - j + n) % n, coefficients[static_cast<std::size_t>(j)]);
  });
}
std::vector<std::complex<double>> circulant_spectrum(index_t n, const std::vector<double>& coefficients) {
  expects(n >= 0, "a generated matrix needs non-negative rows and columns");
  const index_t width = std::min(n, static_cast<index_t>(std::ssize(coefficients)));
  std::vector<std::complex<double>> values;
  for (index_t k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (index_t j = 0; j < width; ++j)
      sum += coefficients[static_cast<std::size_t>(j)] * std::polar(1.0, -2 * pi * real(j * k % n) / real(n));
    values.push_back(sum);
  }
  return values;
}
std::vector<double> random_coefficients(index_t count, std::uint64_t seed) {
  const solvers::Random random(seed);
  return values_of(count, [&](index_t j) { return random.normal(static_cast<std::uint64_t>(j)); });
}

CsrMatrix<double> lauchli(index_t n, double mu) {
  return assemble<double>(n + 1, n, 2, [&](index_t i, RowEntries<double>& entries) {
    if (i > 0) entries.add(i - 1, mu);
    if (i == 0)
      for (index_t j = 0; j < n; ++j) entries.add(j, 1);
  });
}
Spectrum lauchli_singular_values(index_t n, double mu) {
  return Spectrum(values_of(n, [=](index_t j) { return j == n ? std::sqrt(real(n) + mu * mu) : std::fabs(mu); }));
}

CsrMatrix<double> wilkinson(index_t m) {
  expects(m >= 0, "Wilkinson's matrix has the order 2 m + 1 with m >= 0");
  const auto one = [](index_t) { return 1.0; };
  return tridiagonal(
      2 * m + 1, one, [m](index_t i) { return real(std::abs(i - m)); }, one);
}

Matrix<double> frank(index_t n) {
  Matrix<double> a(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) a(i, j) = j < i - 1 ? 0.0 : real(n - std::max(i, j));
  return a;
}

}  // namespace ts::generators
