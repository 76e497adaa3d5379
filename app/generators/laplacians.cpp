#include "tallskinny/app/generators/laplacians.hpp"

#include <cmath>
#include <numbers>

#include "tallskinny/app/generators/assemble.hpp"

namespace ts::generators {

namespace {

using std::numbers::pi;

index_t product(const std::vector<index_t>& sizes) {
  index_t n = 1;
  for (const index_t size : sizes) {
    expects(size >= 0, "a grid has a negative number of points");
    expects(size == 0 || n <= INT64_MAX / size, "a grid has more than 2^63 points");
    n *= size;
  }
  return n;
}

/// What one direction adds to the row of point `at`: the diagonal entry, and -1 at each neighbour.
void add_direction(RowEntries<double>& entries, index_t row, index_t at, index_t size, index_t stride,
                   Boundary boundary) {
  double diagonal = 2;
  for (const index_t step : {index_t{-1}, index_t{1}}) {
    const index_t neighbour = at + step;
    if (neighbour >= 0 && neighbour < size)
      entries.add(row + step * stride, -1);
    else if (boundary == Boundary::ring)
      entries.add(row + ((neighbour + size) % size - at) * stride, -1);
    else if (boundary == Boundary::neumann)
      diagonal -= 1;
  }
  entries.add(row, diagonal);
}

std::vector<double> line_spectrum(index_t n, Boundary boundary) {
  std::vector<double> values;
  for (index_t j = 1; j <= n; ++j) {
    const auto count = static_cast<double>(n), at = static_cast<double>(j);
    // 2 - 2 cos x = 4 sin^2(x / 2), which keeps the relative accuracy of the small ones.
    const double half = boundary == Boundary::dirichlet ? at * pi / (2 * (count + 1))
                        : boundary == Boundary::neumann ? (at - 1) * pi / (2 * count)
                                                        : (at - 1) * pi / count;
    const double s = std::sin(half);
    values.push_back(4 * s * s);
  }
  return values;
}

}  // namespace

CsrMatrix<double> laplacian(const std::vector<index_t>& sizes, Boundary boundary) {
  const index_t n = product(sizes);
  return assemble<double>(n, n, 2 * std::ssize(sizes) + 1, [&](index_t row, RowEntries<double>& entries) {
    index_t stride = 1, rest = row;
    for (std::size_t direction = sizes.size(); direction-- > 0;) {
      const index_t size = sizes[direction];
      add_direction(entries, row, rest % size, size, stride, boundary);
      rest /= size;
      stride *= size;
    }
  });
}

Spectrum laplacian_spectrum(const std::vector<index_t>& sizes, Boundary boundary) {
  product(sizes);
  std::vector<std::vector<double>> lists;
  lists.reserve(sizes.size());
  for (const index_t size : sizes) lists.push_back(line_spectrum(size, boundary));
  return Spectrum::sum(std::move(lists));
}

CsrMatrix<double> laplacian_copies(index_t p, index_t n, Boundary boundary) {
  return assemble<double>(product({p, n}), p * n, 3, [&](index_t row, RowEntries<double>& entries) {
    add_direction(entries, row, row % n, n, 1, boundary);
  });
}

Spectrum laplacian_copies_spectrum(index_t p, index_t n, Boundary boundary) {
  product({p, n});
  return Spectrum::sum({std::vector<double>(static_cast<std::size_t>(p), 0.0), line_spectrum(n, boundary)});
}

CsrMatrix<double> hypercube(int d) {
  expects(d >= 0 && d < 31, "a hypercube has 0 to 30 dimensions");
  const index_t n = index_t{1} << d;
  return assemble<double>(n, n, d + 1, [d](index_t row, RowEntries<double>& entries) {
    entries.add(row, d);
    for (int bit = 0; bit < d; ++bit) entries.add(row ^ (index_t{1} << bit), -1);
  });
}

Spectrum hypercube_spectrum(int d) {
  expects(d >= 0 && d < 31, "a hypercube has 0 to 30 dimensions");
  // The graph is the d-fold product of one edge, whose Laplacian has the eigenvalues 0 and 2.
  return Spectrum::sum(std::vector<std::vector<double>>(static_cast<std::size_t>(d), {0.0, 2.0}));
}

CsrMatrix<double> complete_graph(index_t n) {
  return assemble<double>(n, n, n, [n](index_t row, RowEntries<double>& entries) {
    for (index_t col = 0; col < n; ++col) entries.add(col, col == row ? static_cast<double>(n - 1) : -1.0);
  });
}

Spectrum complete_graph_spectrum(index_t n) {
  expects(n >= 0, "a graph has a negative number of nodes");
  std::vector<double> values(static_cast<std::size_t>(n), static_cast<double>(n));
  if (n > 0) values[0] = 0;
  return Spectrum(std::move(values));
}

}  // namespace ts::generators
