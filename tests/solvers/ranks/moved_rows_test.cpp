// Another order of rows on ranks, against the same on one, bit for bit.
#include "tallskinny/solvers/ranks/moved_rows.hpp"

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/solvers/ranks/row_shares.hpp"
#include "tallskinny/solvers/setup/reorder.hpp"
#include "tallskinny/tests/support/ranks.hpp"

using namespace ts::solvers;

namespace {

/// Some order of n rows.
std::vector<index_t> shuffled(index_t n) {
  std::vector<index_t> order(at(n));
  std::iota(order.begin(), order.end(), index_t{0});
  std::mt19937_64 numbers(1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[numbers() % i]);
  return order;
}

template <class T>
CsrMatrix<T> laplacian_with(std::vector<index_t> sides) {
  const CsrMatrix<double> lap = generators::laplacian(sides);
  CsrMatrix<T> a{lap.rows, lap.cols, lap.pointers, lap.indices, {}};
  a.values.reserve(lap.values.size());
  for (std::size_t e = 0; e < lap.values.size(); ++e)
    a.values.push_back(static_cast<T>(lap.values[e] + static_cast<double>(e % 13)));
  return a;
}

/// body(ctx) on the ranks of each distribution; it throws where something is wrong.
template <class Body>
void on_all_distributions(index_t n, const Body& body) {
  for (const RowSlabs& slabs : distributions_of(n)) {
    CAPTURE(slabs.slabs());
    CHECK(on_slabs(Context{}, slabs, body) == "");
  }
}

void require_here(bool right) { expect(right, "other rows"); }

}  // namespace

TEMPLATE_TEST_CASE("rows of a reordered matrix are those of the whole, and rank 0 sees its pattern", "", double, float,
                   std::complex<double>, std::complex<float>) {
  using T = TestType;
  const CsrMatrix<T> a = laplacian_with<T>({30, 30});
  const std::vector<index_t> order = shuffled(a.rows);
  CsrMatrix<T> expected;
  if constexpr (sizeof(real_t<T>) == 8)
    expected = reordered<T>(a, order);
  else
    expected = reordered_rows<T>(Context{}, a.view(), order, RowSlabs({0, a.rows}));
  on_all_distributions(a.rows, [&](const Context& ctx) {
    const int rank = ctx.communicator->rank();
    const CsrMatrix<T> own = io::row_slice(CsrMatrix<T>(a), ctx.slabs.begin(rank), ctx.slabs.begin(rank + 1));
    const int ranks = ctx.communicator->size();
    for (const RowSlabs& to : {ctx.slabs, RowSlabs::of_pieces(a.rows, ranks, 1)})
      require_here(same(reordered_rows<T>(ctx, own.view(), order, to),
                        io::row_slice(CsrMatrix<T>(expected), to.begin(rank), to.begin(rank + 1))));
    const CsrMatrix<T> pattern = pattern_on_first<T>(ctx, own.view());
    require_here(pattern.values.empty());
    require_here(rank == 0 ? pattern.pointers == a.pointers && pattern.indices == a.indices : pattern.indices.empty());
  });
}

TEST_CASE("rows of a block go to their places and come back") {
  const index_t n = 700;
  const std::vector<index_t> order = shuffled(n);
  const auto value = [](index_t i, index_t j) { return static_cast<double>(100 * i + j); };
  for (const index_t cols : {0, 1, 8, 19})
    on_all_distributions(n, [&](const Context& ctx) {
      const index_t first = first_row(ctx), rows = ctx.slabs.rows(ctx.communicator->rank());
      const auto x = matrix_of<double>(rows, cols, [&](index_t i, index_t j) { return value(first + i, j); });
      const Matrix<double> there = moved_rows<double>(ctx, x.cview(), inverse_of(order));
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < cols; ++j) require_here(there(i, j) == value(order[at(first + i)], j));
      const Matrix<double> back = moved_rows<double>(ctx, there.cview(), order);
      require_here(std::equal(back.data(), back.data() + rows * cols, x.data()));
    });
}

TEST_CASE("parts of a shuffled grid let ranks send a fifth, and the order does not depend on how many there are") {
  const CsrMatrix<double> file = reordered(laplacian_with<double>({24, 24, 24}), shuffled(24 * 24 * 24));
  const bool has_metis = !nested_dissection(file.rows, file.pointers.data(), file.indices.data()).empty();
  for (const Reordering kind : {Reordering::rcm, Reordering::metis}) {
    if (kind == Reordering::metis && !has_metis) continue;
    CAPTURE(name_of(kind));
    std::vector<index_t> order;
    for (const int ranks : {1, 2, 3, 4, 8}) {
      CAPTURE(ranks);
      const RanksOrder found = order_for_ranks(kind, file, RowSlabs::of_units(file.rows, ranks));
      if (order.empty()) order = found.order;
      CHECK(found.order == order);
      CHECK(found.slabs.slabs() == ranks);
      CHECK(found.ranks.then == row_shares(reordered(file, order).view(), found.slabs).sent_bytes());
      CHECK(found.ranks.now == row_shares(file.view(), RowSlabs::of_units(file.rows, ranks)).sent_bytes());
      CHECK(5 * found.ranks.then <= found.ranks.now);
      CHECK(found.units.less());
    }
    std::sort(order.begin(), order.end());
    for (index_t i = 0; i < file.rows; ++i) REQUIRE(order[at(i)] == i);
  }
  // Where ranks are many, parts cut less than layers do.
  const auto units = [&](Reordering kind) { return order_for_ranks(kind, file, RowSlabs({0, file.rows})).units.then; };
  if (has_metis) CHECK(units(Reordering::metis) < units(Reordering::rcm));
}

TEST_CASE("an order that saves nothing says so") {
  const CsrMatrix<double> line = laplacian_with<double>({7000});
  const RanksOrder found = order_for_ranks(Reordering::rcm, line, RowSlabs::of_units(line.rows, 3));
  CHECK(found.ranks.now == 4 * 8);  // two cuts, each with a row from either side
  CHECK_FALSE(found.ranks.less());
  CHECK_FALSE(found.units.less());
}
