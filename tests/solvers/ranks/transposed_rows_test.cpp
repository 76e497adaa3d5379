// Entries that change ranks, against the whole matrix on one rank, bit for bit.
#include "tallskinny/solvers/ranks/transposed_rows.hpp"

#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;
using namespace ts::test;

namespace {

using Shared = std::shared_ptr<Communicator>;

enum class Part { all, lower, upper };

/// Columns anywhere, ascending; some rows are empty, others have entries in many columns.
template <class T>
CsrMatrix<T> scattered(index_t n, Part part) {
  CsrMatrix<T> a;
  a.rows = a.cols = n;
  for (index_t i = 0; i < n; ++i) {
    const index_t apart = i % 100 == 50 ? 3 : 97;
    for (index_t j = (i * 31) % apart; i % 5 != 3 && j < n; j += apart) {
      if ((part == Part::lower && j > i) || (part == Part::upper && j < i)) continue;
      const double value = 1.0 / static_cast<double>(2 + (i * 7 + j * 5) % 89);
      a.indices.push_back(static_cast<std::int32_t>(j));
      if constexpr (is_complex<T>)
        a.values.push_back({static_cast<real_t<T>>(value), static_cast<real_t<T>>(i == j ? 0 : 1 - value)});
      else
        a.values.push_back(static_cast<T>(value));
    }
    a.pointers.push_back(std::ssize(a.indices));
  }
  return a;
}

template <class T>
bool same(const CsrMatrix<T>& a, const CsrMatrix<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.pointers == b.pointers && a.indices == b.indices &&
         a.values == b.values;
}

/// make(ctx, own rows) on all ranks gives rows of `expected`.
template <class T, class Make>
void check_on_ranks(const CsrMatrix<T>& a, const CsrMatrix<T>& expected, const Make& make) {
  std::vector<RowSlabs> distributions;
  for (const int ranks : {1, 2, 3, 4, 8}) distributions.push_back(RowSlabs::of_units(a.rows, ranks));
  if (a.rows > 3) distributions.push_back(RowSlabs({0, 0, 1, a.rows / 3, a.rows / 3, a.rows - 1, a.rows}));
  for (const RowSlabs& slabs : distributions) {
    CAPTURE(slabs.slabs());
    CHECK(message_of([&] {
            run_on_threads(slabs.slabs(), [&](const Shared& c) {
              Context ctx;
              ctx.communicator = c, ctx.slabs = slabs;
              const index_t begin = slabs.begin(c->rank()), end = slabs.begin(c->rank() + 1);
              const CsrMatrix<T> own = io::row_slice(CsrMatrix<T>(a), begin, end);
              if (!same(make(ctx, own.view()), io::row_slice(CsrMatrix<T>(expected), begin, end)))
                throw Error(Errc::invalid_argument, "other rows");
            });
          }) == "");
  }
}

}  // namespace

TEMPLATE_TEST_CASE("rows of the transposed matrix are those of the whole", "", double, float, std::complex<double>,
                   std::complex<float>) {
  using T = TestType;
  for (const index_t n : {0, 700, 1500}) {
    const CsrMatrix<T> a = scattered<T>(n, Part::all);
    check_on_ranks<T>(a, transposed(a.view()),
                      [](const Context& ctx, const CsrView<T>& own) { return transposed_rows<T>(ctx, own); });
  }
}

TEST_CASE("rows of a dense transposed matrix are those of the whole") {
  for (const index_t n : {0, 1, 700}) {
    const auto element = [](index_t i, index_t j) { return static_cast<double>(1000 * i + j); };
    for (const int ranks : {1, 2, 3, 8})
      run_on_threads(ranks, [&](const Shared& c) {
        Context ctx;
        ctx.communicator = c, ctx.slabs = RowSlabs::of_units(n, ranks);
        const index_t first = first_row(ctx), rows = ctx.slabs.rows(c->rank());
        Matrix<double> own(rows, n);
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < n; ++j) own(i, j) = element(first + i, j);
        const Matrix<double> t = transposed_rows<double>(ctx, own.cview());
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < n; ++j)
            if (t(i, j) != element(j, first + i)) throw Error(Errc::invalid_argument, "another element");
      });
  }
}

TEMPLATE_TEST_CASE("ranks make the matrix of a triangle as reading it on one rank does", "", double, float,
                   std::complex<double>, std::complex<float>) {
  using T = TestType;
  for (const auto structure : {io::Structure::symmetric, io::Structure::hermitian})
    for (const auto triangle : {io::Triangle::lower, io::Triangle::upper}) {
      const CsrMatrix<T> a = scattered<T>(900, triangle == io::Triangle::lower ? Part::lower : Part::upper);
      check_on_ranks<T>(a, io::mirrored(CsrMatrix<T>(a), structure, triangle, io::Subject{"a"}),
                        [&](const Context& ctx, const CsrView<T>& own) {
                          return mirrored_rows<T>(ctx, own, [&](T x) { return io::mirror_image(x, structure); });
                        });
    }
}

TEST_CASE("columns beyond the matrix are refused before ranks exchange anything") {
  CsrMatrix<double> a = scattered<double>(700, Part::all);
  a.indices[5] = -1;
  CHECK(message_of([&] { (void)transposed_rows<double>(Context{}, a.view()); }).find("beyond its columns") !=
        std::string::npos);
}
