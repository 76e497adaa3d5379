// Matrices by rows against the whole matrix on one rank, bit for bit.
#include "tallskinny/solvers/ranks/csr_rows.hpp"

#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/solvers/ranks/balance.hpp"
#include "tallskinny/solvers/ranks/dense_rows.hpp"
#include "tallskinny/tests/solvers/ranks/by_rows.hpp"

using namespace ts::solvers;

namespace {

/// Results of an operator on random blocks, whose rows have gaps between them.
template <class T>
struct Results {
  Matrix<T> product, step_x, step_y, steps_x, steps_y, residual;
};

template <class T>
Results<T> results_of(const Context& ctx, const Operator<T>& op, index_t q, index_t gap) {
  const auto random = [&](std::uint64_t stream) {
    Matrix<T> x(op.rows(), q + gap);
    ts::fill_random<T>(ctx, Philox{3, stream}, x.view(), first_row(ctx));
    return x;
  };
  Results<T> r{random(1), random(2), random(3), random(4), random(5), random(6)};
  const auto block = [q, gap](Matrix<T>& x) { return x.view().cols(gap / 3, q); };
  const Matrix<T> x = random(7);
  op.apply(ctx, x.cview().cols(gap / 3, q), block(r.product));
  expect(op.recurrence(ctx, 1, 2.0, 0.25, block(r.step_x), 0.0, block(r.step_y)), "no step");
  expect(op.recurrence(ctx, 3, -1.5, 0.75, block(r.steps_x), 0.5, block(r.steps_y)), "no steps");
  std::vector<double> theta;
  for (index_t j = 0; j < q; ++j) theta.push_back(0.1 - static_cast<double>(j) / 3);
  expect(op.residual(ctx, x.cview().cols(gap / 3, q), theta, block(r.residual)), "plain sums in residuals");
  return r;
}

template <class T>
void expect_rows(const Results<T>& whole, index_t first, const Results<T>& mine) {
  expect(same_rows(whole.product, first, mine.product), "other bits of products");
  expect(same_rows(whole.step_x, first, mine.step_x) && same_rows(whole.step_y, first, mine.step_y),
         "other bits of a step");
  expect(same_rows(whole.steps_x, first, mine.steps_x) && same_rows(whole.steps_y, first, mine.steps_y),
         "other bits of steps");
  expect(same_rows(whole.residual, first, mine.residual), "other bits of residuals");
}

template <class T, class I = std::int32_t>
void check_sparse(const CsrMatrix<T>& a, const std::vector<index_t>& widths) {
  for (const index_t q : widths)
    for (const index_t gap : {0, 3}) {
      const Operator<T> whole = CsrOperator<T>(a.view());
      const Results<T> expected = results_of(one_rank(), whole, q, gap);
      for (const RowSlabs& slabs : distributions_of(a.rows)) {
        CAPTURE(q, gap, slabs.slabs(), sizeof(I));
        CHECK(on_slabs(one_rank(), slabs, [&](Context ctx) {
                ctx.threads = 1 + ctx.communicator->rank() % 2;
                CsrRows<T> by_rows(ctx, own_rows<T, I>(a, ctx));
                expect(by_rows.shares() == row_shares(a.view(), slabs), to_text(by_rows.shares()));
                const Operator<T> op = std::move(by_rows);
                expect_rows(expected, first_row(ctx), results_of(ctx, op, q, gap));
                const OperatorFacts facts = op.facts(), facts_of_whole = whole.facts();
                expect(facts.entries == facts_of_whole.entries && facts.low == facts_of_whole.low &&
                           facts.high == facts_of_whole.high,
                       "other facts");
              }) == "");
      }
    }
}

}  // namespace

TEMPLATE_TEST_CASE("a sparse matrix by rows has the bits of the whole", "", double, float, std::complex<double>,
                   std::complex<float>) {
  using T = TestType;
  check_sparse(grid<T>(17), {1, 3, 8, 20});
  check_sparse(scattered<T>(1900), {1, 8});
  check_sparse<T, std::int64_t>(scattered<T>(700), {3, 20});
  check_sparse(with_hub<T>(1500, 700), {1, 3, 8});
  check_sparse(with_columns<T>(600, no_columns), {3});
}

TEST_CASE("a sparse matrix by rows of no rows, and blocks of no columns") {
  check_sparse(with_columns<double>(0, no_columns), {3});
  check_sparse(scattered<double>(700), {0});
}

TEST_CASE("what ranks send for a product can be told beforehand") {
  const CsrMatrix<double> a = generators::laplacian({12, 16, 16});  // planes of 256 rows, as a unit
  const RowShares shares = row_shares(a.view(), RowSlabs::of_units(a.rows, 3));
  REQUIRE(shares.ranks.size() == 3);
  CHECK(shares.ranks[0] == RankShare{1024, 1024 * 7 - 4 * 64 - 256, 7, 256, 256, 256});
  CHECK(shares.ranks[1] == RankShare{1024, 1024 * 7 - 4 * 64, 7, 512, 512, 512});
  CHECK(shares.entries() == a.nonzeros());
  CHECK(shares.longest() == 7);
  CHECK(shares.sent_bytes() == 4 * 256 * 8);
  CHECK(mentions(to_text(shares),
                 "rank 1: 1024 rows (512 outer), 6912 entries, 512 halo columns, sends 4096 bytes per "
                 "column\n"));
  CHECK(row_shares(a.view(), RowSlabs::of_units(a.rows, 1)).sent_bytes() == 0);
}

TEST_CASE("rows that are not a rank's are refused") {
  const CsrMatrix<double> a = generators::laplacian({600});
  const auto refused = [&](const std::vector<index_t>& begins, index_t rows) {
    return on_slabs(one_rank(), RowSlabs(begins), [&](const Context& ctx) {
      if (ctx.communicator->rank() == 0) CsrRows<double>(ctx, rows_of<std::int32_t>(a, 0, rows));
    });
  };
  CHECK(mentions(refused({0, 300, 600}, 299), "must be this rank's"));
  CHECK(mentions(refused({0, 300, 500}, 300), "as many columns as Context::slabs have rows"));
  auto beyond = rows_of<std::int32_t>(a, 0, 600);
  beyond.indices[7] = 600;
  CHECK(mentions(message_of([&] { CsrRows<double>(Context{}, std::move(beyond)); }), "beyond its columns"));
}

TEMPLATE_TEST_CASE("a dense matrix by rows has the bits of the whole", "", double, float, std::complex<double>,
                   std::complex<float>) {
  using T = TestType;
  const index_t n = 500;
  Matrix<T> a(n, n);
  ts::fill_random<T>(Context{}, Philox{1, 9}, a.view());
  const auto results = [](const Context& ctx, const Operator<T>& op, index_t q) {
    Matrix<T> x(op.rows(), q), y(op.rows(), q), r(op.rows(), q);
    ts::fill_random<T>(ctx, Philox{3, 1}, x.view(), first_row(ctx));
    op.apply(ctx, x.cview(), y.view());
    const std::vector<double> theta(static_cast<std::size_t>(q), 0.3);
    expect(op.residual(ctx, x.cview(), theta, r.view()), "plain sums");
    return std::pair(std::move(y), std::move(r));
  };
  for (const index_t q : {1, 3, 8, 20}) {
    const auto whole = results(one_rank(), DenseOperator<T>(a.cview()), q);
    for (const RowSlabs& slabs : distributions_of(n)) {
      CAPTURE(q, slabs.slabs());
      CHECK(on_slabs(one_rank(), slabs, [&](const Context& ctx) {
              const index_t first = first_row(ctx);
              const Operator<T> op = DenseRows<T>(ctx, a.cview().rows(first, slabs.rows(ctx.communicator->rank())));
              expect(op.facts().entries == n * n, "other facts");
              const auto mine = results(ctx, op, q);
              expect(same_rows(whole.first, first, mine.first), "other bits of products");
              expect(same_rows(whole.second, first, mine.second), "other bits of residuals");
            }) == "");
    }
  }
}

TEMPLATE_TEST_CASE("on a device a sparse matrix by rows has the bits of the whole", "[sanitize][device][gpu]", double,
                   float, std::complex<double>, std::complex<float>) {
  using T = TestType;
  const auto on_device = [](Context ctx) {
    ctx.stream = cuda::Stream(0);
    return ctx;
  };
  const auto of_device = [](const Context& ctx, const Operator<T>& op, index_t q, index_t gap) {
    Results<T> here;
    const auto random = [&](std::uint64_t stream) {
      PlacedMatrix<T> x(ctx, Space::device, op.rows(), q + gap);
      ts::fill_random<T>(ctx, Philox{3, stream}, x.view().template in<Space::device>(), first_row(ctx));
      return x;
    };
    const auto block = [q, gap](PlacedMatrix<T>& x) { return x.view().cols(gap / 3, q); };
    const auto home = [&ctx](PlacedMatrix<T>& x) { return std::move(x).to_host(ctx); };
    std::vector<PlacedMatrix<T>> m;
    for (std::uint64_t s = 0; s < 9; ++s) m.push_back(random(s));
    expect(op.space() == Space::device && op.residual_space() == Space::device, "not at home on the device");
    op.apply(ctx, block(m[0]), block(m[1]));
    expect(op.update(ctx, T{2}, 0.25, block(m[0]), T{0.5}, block(m[2])), "no update");
    expect(op.update(ctx, T{2}, 0.25, block(m[0]), T{0}, block(m[3])), "no update");
    expect(op.recurrence(ctx, 3, -1.5, 0.75, block(m[4]), 0.5, block(m[5])), "no steps");
    std::vector<double> theta;
    for (index_t j = 0; j < q; ++j) theta.push_back(0.1 - static_cast<double>(j) / 3);
    expect(op.residual(ctx, block(m[0]), theta, block(m[6])), "plain sums in residuals");
    return Results<T>{home(m[1]), home(m[2]), home(m[3]), home(m[4]), home(m[5]), home(m[6])};
  };
  for (const CsrMatrix<T>& a : {grid<T>(17), scattered<T>(1900), with_hub<T>(1500, 700),
                                with_columns<T>(600, no_columns), with_columns<T>(900, [](index_t i) {
                                  std::vector<index_t> row(50);
                                  for (index_t k = 0; k < 50; ++k)
                                    row[static_cast<std::size_t>(k)] = (i * 7 + k * 13) % 900;
                                  return row;
                                })})
    for (const index_t q : {1, 3, 8, 20})
      for (const index_t gap : {0, 3}) {
        const Context one = on_device(one_rank());
        const DeviceCsrMatrix<T> there(one.stream, a.view());
        const Results<T> expected = of_device(one, CsrOperator<T>(a.view(), there.view()), q, gap);
        for (const int ranks : {1, 2, 3, 8}) {
          CAPTURE(a.rows, q, gap, ranks);
          CHECK(on_slabs(one_rank(), RowSlabs::of_units(a.rows, ranks), [&](const Context& here) {
                  const Context ctx = on_device(here);
                  expect_rows(expected, first_row(ctx), of_device(ctx, CsrRows<T>(ctx, own_rows(a, ctx)), q, gap));
                }) == "");
        }
      }
}

TEST_CASE("slabs are balanced by entries, in whole units") {
  using List = std::vector<index_t>;
  const auto begins = [](const RowSlabs& slabs) {
    List list;
    for (int s = 0; s <= slabs.slabs(); ++s) list.push_back(slabs.begin(s));
    return list;
  };
  CHECK(begins(balanced_slabs(1500, List{1, 1, 1, 1, 1, 1}, 3)) == List{0, 512, 1024, 1500});
  CHECK(begins(balanced_slabs(1500, List{10, 1, 1, 1, 1, 1}, 2)) == List{0, 256, 1500});
  CHECK(begins(balanced_slabs(1500, List{1, 1, 1, 1, 1, 10}, 3)) == List{0, 768, 1280, 1500});
  CHECK(begins(balanced_slabs(300, List{5, 1}, 4)).back() == 300);
  CHECK(begins(balanced_slabs(0, List{}, 2)) == List{0, 0, 0});
  const CsrMatrix<double> a = with_hub<double>(1500, 0);
  const List entries = entries_of_units(a.pointers, row_unit(a.rows));
  REQUIRE(entries.size() == 6);
  CHECK(std::accumulate(entries.begin(), entries.end(), index_t{0}) == a.nonzeros());
  CHECK(begins(balanced_slabs(1500, entries, 2)) == List{0, 512, 1500});
  CHECK_THROWS_AS(balanced_slabs(1500, List{1, 1}, 2), Error);
}
