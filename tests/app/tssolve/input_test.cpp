// Reading and checking a Hermitian matrix on several ranks as on one.
#include "tallskinny/app/tssolve/input.hpp"

#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/tests/support/matrix_files.hpp"
#include "tallskinny/tests/support/ranks.hpp"

using namespace ts::app::tssolve;

namespace {

using Complex = std::complex<double>;

/// A Hermitian band with entries far away, too.
template <class T>
CsrMatrix<T> hermitian(index_t n) {
  return csr_by_rows<T>(n, n, [&](index_t i, auto add) {
    for (index_t j = 0; j < n; ++j) {
      if (std::abs(i - j) > 2 && (i + j) % 211 != 0) continue;
      const double value = 1.0 / static_cast<double>(1 + std::max(i, j) % 17) + static_cast<double>(std::min(i, j) % 5);
      if constexpr (is_complex<T>)
        add(j, T(value, i == j ? 0 : (i > j ? 0.5 : -0.5)));
      else
        add(j, value);
    }
  });
}

template <class T>
bool same_rows(const CsrMatrix<T>& whole, index_t first, const CsrMatrix<T>& part) {
  return same(io::row_slice(CsrMatrix<T>(whole), first, first + part.rows), part);
}

using test::same_rows;

/// The error message of reading an object on one rank, after checking that several ranks give the same one.
std::string said_of(const std::string& file, const std::string& object) {
  const io::Description described = io::describe({file, object});
  Input one;
  const std::string expected = message_of([&] { one = read_hermitian(Context{}, described, {}, Role::matrix, false); });
  std::mutex mutex;
  std::set<std::string> said;
  for (const int ranks : {2, 3, 8})
    run_on_threads(ranks, [&](const Shared& c) {
      const Context ctx = of_rank(Context(), c, described.rows);
      const std::string mine = message_of([&] {
        const Input rows = read_hermitian(ctx, described, {}, Role::matrix, false);
        const bool same = std::visit(
            [&]<class Any>(const Any& any) {
              return std::visit(
                  [&]<class M>(const M& part) {
                    return same_rows(std::get<M>(std::get<Any>(one.matrix)), first_row(ctx), part);
                  },
                  any);
            },
            rows.matrix);
        expect(same && rows.note == one.note && rows.dropped.norm == one.dropped.norm, "other rows, or another note");
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
    change_entries(b, change);
    return b;
  };
  const auto far = changed([](index_t i, index_t j, T& x) {
    x += i == 650 && j == 194 ? 1.0 : i == 400 && j == 401 ? 2.0 : 0.0;
  });
  const auto rounded = changed([](index_t i, index_t j, T& x) {
    if (i == 650 && j == 194) x *= 1 + 1e-15;
  });
  const auto lower = changed([](index_t i, index_t j, T& x) {
    if (j > i) x = 0;
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
  out.write("dense", dense_of(a));
  out.write("dense_far", dense_of(far));
  out.write("dense_rounded", dense_of(rounded));
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
  for (const char* wrong : {"/far", "/dense_far", "/far_CSC", "/far_DCSC", "/far_COOC"})
    CHECK(mentions(said_of(file, wrong), std::string("is not ") + name + ": entry (194, 650) is"));
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
  const auto x = matrix_of<double>(50, 3, [](index_t i, index_t j) { return static_cast<double>(3 * i + j); });
  const std::string file = write_h5(folder / "x.h5", "x", x);
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
