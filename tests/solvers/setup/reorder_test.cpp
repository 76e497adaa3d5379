#include "tallskinny/solvers/setup/reorder.hpp"

#include <algorithm>

#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::Reordering;

namespace {

std::size_t place(index_t i) { return static_cast<std::size_t>(i); }

/// A grid of side x side points whose numbers are shuffled, and `alone` points that have no neighbours.
CsrMatrix<double> shuffled_grid(index_t side, index_t alone) {
  const index_t n = side * side + alone;
  std::vector<index_t> number(place(n));
  for (index_t i = 0; i < n; ++i) number[place(i)] = i;
  for (index_t i = n - 1; i > 0; --i) std::swap(number[place(i)], number[place((i * 7919 + 13) % (i + 1))]);
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows(place(n));
  const auto add = [&](index_t i, index_t j, double value) {
    rows[place(number[place(i)])].emplace_back(static_cast<std::int32_t>(number[place(j)]), value);
  };
  for (index_t i = 0; i < n; ++i) {
    add(i, i, 4 + static_cast<double>(i));
    if (i >= side * side) continue;
    if (i % side > 0) add(i, i - 1, -1);
    if (i % side + 1 < side) add(i, i + 1, -1);
    if (i >= side) add(i, i - side, -2);
    if (i + side < side * side) add(i, i + side, -2);
  }
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (const auto& row : rows) {
    for (const auto& [column, value] : row) a.indices.push_back(column), a.values.push_back(value);
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  return a;
}

std::vector<index_t> order_of(Reordering kind, const CsrMatrix<double>& a) {
  return solvers::order_of(kind, a.rows, a.pointers.data(), a.indices.data());
}

double entry(const CsrMatrix<double>& a, index_t i, index_t j) {
  double sum = 0;
  for (index_t e = a.pointers[place(i)]; e < a.pointers[place(i + 1)]; ++e)
    if (a.indices[place(e)] == j) sum += a.values[place(e)];
  return sum;
}

}  // namespace

TEST_CASE("reverse Cuthill-McKee brings a shuffled grid near its diagonal") {
  const index_t side = 40;
  const auto a = shuffled_grid(side, 25);
  const auto order = order_of(Reordering::rcm, a);
  CHECK(order == order_of(Reordering::rcm, a));
  const auto b = solvers::reordered(a, order);
  const auto before = solvers::locality_of(a, 8), after = solvers::locality_of(b, 8);
  CHECK(before.bandwidth > 20 * side);
  CHECK(after.bandwidth <= 3 * side / 2);  // a level of a grid has at most `side` points
  CHECK(after.mean_distance < before.mean_distance / 10);
  CHECK(after.product_bytes <= before.product_bytes);
}

TEST_CASE("a reordered matrix has the entries of the old one, and rows come back to their places") {
  const auto a = shuffled_grid(17, 5);
  for (const Reordering kind : {Reordering::none, Reordering::rcm, Reordering::metis}) {
    if (kind == Reordering::metis && solvers::nested_dissection(a.rows, a.pointers.data(), a.indices.data()).empty())
      continue;
    CAPTURE(solvers::name_of(kind));
    auto order = order_of(kind, a);
    const auto b = solvers::reordered(a, order);
    REQUIRE(b.nonzeros() == a.nonzeros());
    bool same = true;
    for (index_t i = 0; i < a.rows; ++i)
      for (index_t j = 0; j < a.rows; ++j) same = same && entry(b, i, j) == entry(a, order[place(i)], order[place(j)]);
    CHECK(same);
    for (index_t i = 0; i < b.rows; ++i)
      CHECK(std::is_sorted(b.indices.begin() + b.pointers[place(i)], b.indices.begin() + b.pointers[place(i + 1)]));
    const auto places = solvers::inverse_of(order);
    for (index_t i = 0; i < a.rows; ++i) CHECK(places[place(order[place(i)])] == i);
    std::sort(order.begin(), order.end());
    for (index_t i = 0; i < a.rows; ++i) CHECK(order[place(i)] == i);
  }
}

TEST_CASE("METIS refuses a matrix that it does not order, by name") {
  const auto a = shuffled_grid(3, 0);
  try {
    (void)order_of(Reordering::metis, a);
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("METIS") != std::string::npos);
  }
}
