#include "tallskinny/app/generators/matrices.hpp"

#include <cmath>
#include <numbers>

#include "tallskinny/app/generators/assemble.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::generators {

namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

double angle(index_t j, index_t n) { return 2 * pi * static_cast<double>(j) / static_cast<double>(n); }

}  // namespace

CsrMatrix<double> graphene(index_t lx, index_t ly) {
  expects(lx >= 0 && ly >= 0, "a honeycomb has a negative number of cells");
  const auto atom = [&](index_t x, index_t y, index_t s) { return 2 * ((x + lx) % lx * ly + (y + ly) % ly) + s; };
  // Atom 0 of cell (x, y) bonds to atom 1 of the cells (x, y), (x - 1, y) and (x, y - 1).
  return assemble<double>(2 * lx * ly, 2 * lx * ly, 3, [&](index_t row, RowEntries<double>& entries) {
    const index_t s = row % 2, x = row / 2 / ly, y = row / 2 % ly, back = s == 0 ? -1 : 1;
    entries.add(atom(x, y, 1 - s), -1);
    entries.add(atom(x + back, y, 1 - s), -1);
    entries.add(atom(x, y + back, 1 - s), -1);
  });
}

Spectrum graphene_spectrum(index_t lx, index_t ly) {
  expects(lx >= 0 && ly >= 0, "a honeycomb has a negative number of cells");
  std::vector<double> values;
  for (index_t x = 0; x < lx; ++x)
    for (index_t y = 0; y < ly; ++y) {
      const double f = std::abs(1.0 + std::polar(1.0, angle(x, lx)) + std::polar(1.0, angle(y, ly)));
      values.push_back(f);
      values.push_back(-f);
    }
  return Spectrum(std::move(values));
}

CsrMatrix<Complex> flux_ring(index_t n, double phi) {
  const Complex forward = -std::polar(1.0, phi / static_cast<double>(n));
  return assemble<Complex>(n, n, 2, [&](index_t row, RowEntries<Complex>& entries) {
    entries.add((row + n - 1) % n, forward);
    entries.add((row + 1) % n, std::conj(forward));
  });
}

Spectrum flux_ring_spectrum(index_t n, double phi) {
  expects(n >= 0, "a ring has a negative number of sites");
  std::vector<double> values;
  for (index_t j = 0; j < n; ++j)
    values.push_back(-2 * std::cos((2 * pi * static_cast<double>(j) - phi) / static_cast<double>(n)));
  return Spectrum(std::move(values));
}

CsrMatrix<double> xx_chain(int length) {
  expects(length >= 0 && length < 31, "a spin chain has 0 to 30 sites");
  const index_t n = index_t{1} << length;
  // Half of all states have an up beside a down at two neighbours, which exchange them.
  return assemble<double>(n, n, length / 2, [length](index_t row, RowEntries<double>& entries) {
    for (int site = 0; site + 1 < length; ++site)
      if (((row >> site) & 1) != ((row >> (site + 1)) & 1)) entries.add(row ^ (index_t{3} << site), 1);
  });
}

Spectrum xx_chain_spectrum(int length) {
  expects(length >= 0 && length < 31, "a spin chain has 0 to 30 sites");
  std::vector<std::vector<double>> lists;
  for (int k = 1; k <= length; ++k) lists.push_back({0.0, 2 * std::cos(k * pi / (length + 1))});
  return Spectrum::sum(std::move(lists));
}

CsrMatrix<double> anderson(const std::vector<index_t>& sizes, double disorder, std::uint64_t seed) {
  index_t n = 1;
  for (const index_t size : sizes) {
    expects(size >= 0, "a grid has a negative number of points");
    expects(size == 0 || n <= INT64_MAX / size, "a grid has more than 2^63 points");
    n *= size;
  }
  const solvers::Random random(seed);
  return assemble<double>(n, n, 2 * std::ssize(sizes) + 1, [&](index_t row, RowEntries<double>& entries) {
    entries.add(row, disorder * (random.uniform(static_cast<std::uint64_t>(row)) - 0.5));
    index_t stride = 1, rest = row;
    for (std::size_t direction = sizes.size(); direction-- > 0;) {
      const index_t size = sizes[direction], at = rest % size;
      entries.add(row + ((at + 1) % size - at) * stride, -1);
      entries.add(row + ((at + size - 1) % size - at) * stride, -1);
      rest /= size;
      stride *= size;
    }
  });
}

CsrMatrix<Complex> hofstadter(index_t lx, index_t ly, index_t numerator) {
  expects(lx >= 0 && ly >= 0, "a torus has a negative number of sites");
  return assemble<Complex>(lx * ly, lx * ly, 4, [&](index_t row, RowEntries<Complex>& entries) {
    const index_t x = row / ly, y = row % ly;
    const Complex up = -std::polar(1.0, angle(numerator * x % lx, lx));
    entries.add((x + 1) % lx * ly + y, -1);
    entries.add((x + lx - 1) % lx * ly + y, -1);
    entries.add(x * ly + (y + ly - 1) % ly, up);
    entries.add(x * ly + (y + 1) % ly, std::conj(up));
  });
}

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

/// Adds one direction's part of the row of point `at`: to the diagonal entry, and -1 at each neighbour.
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
