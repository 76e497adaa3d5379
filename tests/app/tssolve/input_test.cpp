// Reading and checking a Hermitian matrix on several ranks as on one.
#include "tallskinny/app/tssolve/input.hpp"

#include "tallskinny/gemm/comm/thread_ranks.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/matrix_files.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::app::tssolve;
using namespace ts::test;

namespace {

using Complex = std::complex<double>;

/// A Hermitian band with entries far away, too.
template <class T>
CsrMatrix<T> hermitian(index_t n) {
  CsrMatrix<T> a;
  a.rows = a.cols = n;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      if (std::abs(i - j) > 2 && (i + j) % 211 != 0) continue;
      const double value = 1.0 / static_cast<double>(1 + std::max(i, j) % 17) + static_cast<double>(std::min(i, j) % 5);
      a.indices.push_back(static_cast<std::int32_t>(j));
      if constexpr (is_complex<T>)
        a.values.push_back({value, i == j ? 0 : (i > j ? 0.5 : -0.5)});
      else
        a.values.push_back(value);
    }
    a.pointers.push_back(std::ssize(a.indices));
  }
  return a;
}

template <class T>
Matrix<T> dense(const CsrMatrix<T>& a) {
  auto d = Matrix<T>::zeros(a.rows, a.cols);
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[static_cast<std::size_t>(i)]; e < a.pointers[static_cast<std::size_t>(i) + 1]; ++e)
      d(i, a.indices[static_cast<std::size_t>(e)]) = a.values[static_cast<std::size_t>(e)];
  return d;
}

template <class T>
bool same_rows(const CsrMatrix<T>& whole, index_t first, const CsrMatrix<T>& part) {
  const auto rows = io::row_slice(CsrMatrix<T>(whole), first, first + part.rows);
  return rows.cols == part.cols && rows.pointers == part.pointers && rows.indices == part.indices &&
         rows.values == part.values;
}
template <class T>
bool same_rows(const Matrix<T>& whole, index_t first, const Matrix<T>& part) {
  return std::equal(part.data(), part.data() + part.rows() * part.cols(), whole.data() + first * whole.cols());
}

/// What reading this on one rank and on several says: the sentences of all ranks must be that of one.
std::string said_of(const std::string& file, const std::string& object) {
  const io::Description described = io::describe({file, object});
  Input one;
  const std::string expected = message_of([&] { one = read_hermitian(described, {}, Role::matrix, false); });
  std::mutex mutex;
  std::set<std::string> said;
  for (const int ranks : {2, 3, 8})
    run_on_threads(ranks, [&](const std::shared_ptr<Communicator>& c) {
      Context ctx;
      ctx.communicator = c, ctx.slabs = RowSlabs::of_units(described.rows, ranks);
      const std::string mine = message_of([&] {
        const Input rows = read_hermitian_rows(ctx, described, {}, Role::matrix, false);
        const bool same = std::visit(
            [&]<class Any>(const Any& any) {
              return std::visit(
                  [&]<class M>(const M& part) {
                    return same_rows(std::get<M>(std::get<Any>(one.matrix)), first_row(ctx), part);
                  },
                  any);
            },
            rows.matrix);
        if (!same || rows.note != one.note || rows.dropped.norm != one.dropped.norm)
          throw Error(Errc::invalid_argument, "other rows, or another note");
      });
      const std::lock_guard lock(mutex);
      said.insert(mine);
    });
  CHECK(said == std::set<std::string>{expected});
  return expected.empty() ? one.note : expected;
}

template <class T>
void check_all(const char* name) {
  const TemporaryFolder folder;
  const std::string file = folder / "a.h5";
  const CsrMatrix<T> a = hermitian<T>(700);
  const auto changed = [&](const auto& change) {
    CsrMatrix<T> b = a;
    change(b);
    return b;
  };
  const auto entry = [&](CsrMatrix<T>& b, index_t i, index_t j) -> T& {
    auto e = static_cast<std::size_t>(b.pointers[static_cast<std::size_t>(i)]);
    while (b.indices[e] != j) ++e;
    return b.values[e];
  };
  const auto far = changed([&](auto& b) { entry(b, 650, 194) += 1, entry(b, 400, 401) += 2; });
  const auto rounded = changed([&](auto& b) { entry(b, 650, 194) *= 1 + 1e-15; });
  const auto lower = changed([&](auto& b) {
    for (index_t i = 0, e = 0; i < b.rows; ++i)
      for (; e < b.pointers[static_cast<std::size_t>(i) + 1]; ++e)
        if (b.indices[static_cast<std::size_t>(e)] > i) b.values[static_cast<std::size_t>(e)] = 0;
  });
  io::OutputFile out(file);
  out.write_binsparse("good", a);
  out.write_binsparse("triangle", a, io::Structure::hermitian);
  out.write_binsparse("far", far);
  out.write_binsparse("rounded", rounded);
  out.write_binsparse("lower", lower);
  for (const std::string layout : {"CSC", "DCSC", "COOR", "COOC", "DCSR"}) {
    write_layout(out, "good_" + layout, a, layout);
    write_layout(out, "lower_" + layout, a, layout, "hermitian_lower");
    write_layout(out, "upper_" + layout, a, layout, "hermitian_upper");
    write_layout(out, "far_" + layout, far, layout);
    write_layout(out, "rounded_" + layout, rounded, layout);
  }
  out.write("dense", dense(a));
  out.write("dense_far", dense(far));
  out.write("dense_rounded", dense(rounded));
  out.commit();
  write_matrix_market(folder / "good.mtx", a);
  write_matrix_market(folder / "half.mtx", a, is_complex<T> ? "hermitian" : "symmetric");
  CHECK(said_of(folder / "good.mtx", "").empty());
  CHECK(said_of(folder / "half.mtx", "").empty());
  for (const char* right : {"/good", "/triangle", "/dense"}) CHECK(said_of(file, right).empty());
  for (const std::string layout : {"CSC", "DCSC", "COOR", "COOC", "DCSR"}) {
    CAPTURE(layout);
    for (const char* right : {"/good_", "/lower_", "/upper_"}) CHECK(said_of(file, right + layout).empty());
    CHECK(mentions(said_of(file, "/rounded_" + layout), "as rounding leaves them"));
  }
  for (const char* wrong : {"/far", "/dense_far", "/far_CSC", "/far_DCSC", "/far_COOC"}) {
    const std::string said = said_of(file, wrong);
    CAPTURE(said);
    CHECK(mentions(said, std::string("is not ") + name + ": entry (194, 650) is"));
  }
  for (const char* accepted : {"/rounded", "/dense_rounded"})
    CHECK(mentions(said_of(file, accepted), "as rounding leaves them"));
  CHECK(mentions(said_of(file, "/lower"), "has nothing above its diagonal"));
}

}  // namespace

TEST_CASE("ranks read and check rows of a Hermitian matrix as one rank does") {
  check_all<double>("symmetric");
  check_all<Complex>("Hermitian");
}

TEST_CASE("rows of first columns") {
  const TemporaryFolder folder;
  Matrix<double> x(50, 3);
  for (index_t i = 0; i < 150; ++i) x.data()[i] = static_cast<double>(i);
  io::OutputFile out(folder / "x.h5");
  out.write("x", x);
  out.commit();
  const std::string file = folder / "x.h5";
  const Matrix<double> some = read_initial<double>(file, 50, {}, 20, 30), all = read_initial<double>(file, 50, {});
  REQUIRE((some.rows() == 10 && some.cols() == 3 && all.rows() == 50));
  CHECK(same_rows(all, 20, some));
  CHECK(read_initial<double>(file, 50, {}, 50, 50).rows() == 0);
  const auto refused = [&](index_t begin, index_t end) {
    return message_of([&] { (void)read_initial<double>(file, 60, {}, begin, end); });
  };
  CHECK(mentions(refused(0, -1), "has 50 rows, the matrix 60"));
  CHECK(refused(20, 30) == refused(0, -1));
}
