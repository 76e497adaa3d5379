// Some rows of a matrix in compressed rows, of which no more is read than these.
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/tests/io/support.hpp"
#include "tallskinny/tests/support/operands.hpp"

using io::OutputFile;
using io::Structure;

namespace {

/// n x n with the structure; row i has a diagonal entry unless i % 3 == 0, and entries up to 5 columns away.
template <class T>
CsrMatrix<T> banded(index_t n, Structure structure = Structure::hermitian) {
  return csr_by_rows<T>(n, n, [&](index_t i, auto add) {
    for (index_t j = std::max<index_t>(0, i - 5); j < std::min(n, i + 6); ++j) {
      if (i == j ? (structure == Structure::skew_symmetric || i % 3 == 0) : (i + j) % 4 == 1) continue;
      const double v = 1.0 + static_cast<double>((3 * std::max(i, j) + 7 * std::min(i, j)) % 11);
      const T x = element<T>(v, i == j ? 0.0 : 0.5 * v);
      add(j, j > i ? io::mirror_image(x, structure) : x);
    }
  });
}

template <class T>
CsrMatrix<T> read_rows(const io::Location& where, index_t begin, index_t end, bool as_stored = false) {
  auto read = io::read_matrix(where, {.row_begin = begin, .row_end = end, .as_stored = as_stored});
  return std::get<CsrMatrix<T>>(std::get<io::SparseMatrix>(read.matrix));
}

/// Rows begin .. end - 1 of `a`, those of its lower triangle alone where `lower`.
template <class T>
CsrMatrix<T> rows_of(const CsrMatrix<T>& a, index_t begin, index_t end, bool lower) {
  return csr_by_rows<T>(end - begin, a.cols, [&](index_t row, auto add) {
    const auto i = static_cast<std::size_t>(begin + row);
    for (auto e = static_cast<std::size_t>(a.pointers[i]); e < static_cast<std::size_t>(a.pointers[i + 1]); ++e)
      if (!lower || a.indices[e] <= begin + row) add(a.indices[e], a.values[e]);
  });
}

using Cut = std::pair<index_t, index_t>;
const std::vector<Cut> cuts = {{0, 10}, {10, 11}, {11, 40}, {7, 7}, {0, 40}, {3, 30}, {0, 0}, {39, 40}, {40, 40}};

template <class T>
void check_ranges(const CsrMatrix<T>& a, Structure structure) {
  TemporaryFolder folder;
  OutputFile out(folder / "a.h5");
  out.write_binsparse("whole", a);
  out.write_binsparse("triangle", a, structure);
  out.commit();
  const io::Location whole{folder / "a.h5", "/whole"}, triangle{folder / "a.h5", "/triangle"};
  CHECK_FALSE(io::describe(whole).stored_triangle);
  CHECK(io::describe(triangle).stored_triangle);
  CHECK_FALSE(io::describe(triangle).stored_by_columns);
  CHECK(io::describe(triangle, {.transpose = true}).stored_by_columns);
  for (const auto& [begin, end] : cuts) {
    CAPTURE(begin, end);
    CHECK(same(read_rows<T>(whole, begin, end), rows_of(a, begin, end, false)));
    CHECK(same(read_rows<T>(whole, begin, end, true), rows_of(a, begin, end, false)));
    CHECK(same(read_rows<T>(triangle, begin, end), rows_of(a, begin, end, false)));
    CHECK(same(read_rows<T>(triangle, begin, end, true), rows_of(a, begin, end, true)));
  }
}

/// Rows of `whole` that are read alone.
template <class T>
void check_cuts(const io::Location& where, const CsrMatrix<T>& whole) {
  for (const auto& [begin, end] : cuts) {
    CAPTURE(where.text(), begin, end);
    CHECK(same(read_rows<T>(where, begin, end), rows_of(whole, begin, end, false)));
    if (!io::describe(where).stored_by_columns && !io::describe(where).stored_triangle)
      CHECK(same(read_rows<T>(where, begin, end, true), rows_of(whole, begin, end, false)));
  }
}

/// n x n of Structure::hermitian as pairs, by columns and as text.
template <class T>
void check_layouts() {
  const CsrMatrix<T> a = banded<T>(40);
  CsrMatrix<T> upper_turned = rows_of(a, 0, 40, true), turned = a;  // rows of the transposed upper triangle, and of all
  for (CsrMatrix<T>* each : {&upper_turned, &turned})
    for (T& x : each->values) x = io::mirror_image(x, Structure::hermitian);
  const TemporaryFolder folder;
  const std::string file = folder / "layouts.h5";
  OutputFile out(file);
  for (const std::string layout : {"COOR", "COOC", "CSC", "DCSC", "DCSR"})
    for (const std::string structure : {"general", "hermitian_lower", "hermitian_upper"})
      write_layout(out, layout + structure, a, layout, structure);
  out.commit();
  for (const std::string layout : {"COOR", "COOC", "CSC", "DCSC", "DCSR"})
    for (const std::string structure : {"general", "hermitian_lower", "hermitian_upper"})
      check_cuts<T>({file, "/" + layout + structure}, a);
  for (const std::string layout : {"CSC", "DCSC"})
    for (const auto& cut : cuts) {
      const auto [begin, end] = cut;
      CAPTURE(layout, begin, end);
      const auto rows = [&](const char* structure) {
        return read_rows<T>({file, layout + structure}, cut.first, cut.second, true);
      };
      CHECK(same(rows("general"), rows_of(turned, begin, end, false)));
      CHECK(same(rows("hermitian_upper"), rows_of(upper_turned, begin, end, false)));
    }
  const std::string text = folder / "whole.mtx", triangle = folder / "half.mtx";
  write_matrix_market(text, a);
  write_matrix_market(triangle, a, is_complex<T> ? "hermitian" : "symmetric");
  if constexpr (sizeof(real_t<T>) == 8) check_cuts<T>({text, ""}, a), check_cuts<T>({triangle, ""}, a);
}

/// Compressed rows as SciPy stores them, right or wrong.
io::Location scipy_rows(const TemporaryFolder& folder, const std::vector<std::int64_t>& pointers,
                        const std::vector<std::int64_t>& columns, std::int64_t cols) {
  std::vector<double> values(columns.size());
  std::iota(values.begin(), values.end(), 1.0);
  return {write_h5(folder / "s.h5", "a/indptr", pointers, "a/indices", columns, "a/data", values, "a/shape",
                   std::vector<std::int64_t>{std::ssize(pointers) - 1, cols}),
          "/a"};
}

io::ReadOptions of_rows(index_t begin, index_t end) {
  return io::ReadOptions{.layout = io::SparseLayout::csr, .row_begin = begin, .row_end = end};
}

}  // namespace

TEST_CASE("rows of compressed rows, and of a triangle as it is stored") {
  check_ranges(banded<double>(40), Structure::symmetric);
  check_ranges(banded<float>(40), Structure::hermitian);
  check_ranges(banded<std::complex<double>>(40), Structure::hermitian);
  check_ranges(banded<std::complex<float>>(40, Structure::skew_symmetric), Structure::skew_symmetric);
}

TEST_CASE("rows of pairs, of compressed columns and of text are those of the whole") {
  check_layouts<double>();
  check_layouts<float>();
  check_layouts<std::complex<double>>();
  check_layouts<std::complex<float>>();
}

TEST_CASE("of pairs and text the rows that are asked for are held, and no others") {
  const TemporaryFolder folder;
  const CsrMatrix<double> a = banded<double>(20000);
  const std::string file = folder / "a.h5";
  OutputFile out(file);
  write_layout(out, "pairs", a, "COOR");
  write_layout(out, "triangle", a, "COOC", "symmetric_upper");
  write_layout(out, "columns", a, "CSC");
  out.commit();
  write_matrix_market(folder / "a.mtx", a);
  const auto rows = [&](const io::Location& where, index_t begin, index_t end) {
    io::ReadOptions options = of_rows(begin, end);
    options.as_stored = true;
    // A hundredth of the rows, and of pairs a piece of all; the whole takes more.
    options.memory_limit = (std::uint64_t{1} << 18) * 20;
    if (!where.object.starts_with("/pairs") && !where.object.starts_with("/triangle")) options.memory_limit /= 16;
    return refusal_of(where, options);
  };
  for (const io::Location& where : {io::Location{file, "/pairs"}, io::Location{file, "/triangle"},
                                    io::Location{file, "/columns"}, io::Location{folder / "a.mtx", ""}}) {
    CAPTURE(where.text());
    CHECK(rows(where, 9900, 10100).sentence.empty());
    CHECK(rows(where, 0, 19900).code == Errc::out_of_memory);
  }
}

TEST_CASE("pairs pass by in pieces of their chunks") {
  const TemporaryFolder folder;
  const CsrMatrix<double> a = banded<double>(60000);  // more entries than a piece
  REQUIRE(a.nonzeros() > (index_t{1} << 18));
  OutputFile out(folder / "a.h5", {.gzip = 1});
  write_layout(out, "pairs", a, "COOC");
  out.commit();
  for (const auto& [begin, end] : {Cut{0, 60000}, Cut{59990, 60000}, Cut{20000, 40000}})
    CHECK(same(read_rows<double>({folder / "a.h5", "/pairs"}, begin, end), rows_of(a, begin, end, false)));
}

TEST_CASE("of dense text the rows that are asked for are held, and no others") {
  const TemporaryFolder folder;
  const index_t n = 600;
  std::string csv, array = "%%MatrixMarket matrix array real symmetric\n600 600\n", general = array;
  general.replace(general.find("symmetric"), 9, "general");
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      const std::string number = std::to_string(i + j);
      csv += number + (j + 1 < n ? "," : "\n"), general += number + "\n";
      if (j >= i) array += number + "\n";
    }
  for (const io::Location& where :
       {file_in(folder, "a.csv", csv), file_in(folder, "a.mtx", general), file_in(folder, "s.mtx", array)})
    for (const auto& [begin, end] : {Cut{0, 20}, Cut{599, 600}, Cut{300, 300}}) {
      CAPTURE(where.text(), begin, end);
      io::ReadOptions options{.row_begin = begin, .row_end = end, .memory_limit = 20 * 600 * 8 + 1};
      const auto a = io::read_dense_as<double>(where, options);
      REQUIRE((a.rows() == end - begin && a.cols() == n));
      for (index_t i = 0; i < a.rows(); ++i)
        CHECK((a(i, 0) == double(begin + i) && a(i, 599) == double(begin + i + 599)));
      options.row_begin = 0, options.row_end = 600;
      CHECK(refusal_of(where, options).code == Errc::out_of_memory);
    }
}

TEST_CASE("of a dense triangle the rows that are asked for are held, with their mirror images") {
  using Complex = std::complex<double>;
  const TemporaryFolder folder;
  const index_t n = 520;  // more than a slab of lines
  const auto value = [](index_t i, index_t j) { return Complex(double(i + j + 1), double(i - j)); };
  OutputFile out(folder / "a.h5");
  for (const std::string format : {"DMATR", "DMATC"})
    for (const std::string structure : {"hermitian_lower", "hermitian_upper"})
      for (const std::string other : {"zero", "right", "wrong"}) {
        std::vector<Complex> values;
        for (index_t line = 0; line < n; ++line)
          for (index_t k = 0; k < n; ++k) {
            const index_t i = format == "DMATR" ? line : k, j = format == "DMATR" ? k : line;
            const bool stored = i == j || (structure == "hermitian_lower") == (i > j);
            const bool changed = other == "wrong" && std::min(i, j) == 100 && std::max(i, j) == 400;
            values.push_back(stored || other != "zero" ? value(i, j) + Complex(!stored && changed) : Complex());
          }
        const std::string group = format + structure + other;
        out.write(group + "/values", values);
        out.attribute(group, "binsparse",
                      R"({"format": ")" + format + R"(", "shape": [520, 520], "structure": ")" + structure + R"("})");
      }
  out.commit();
  for (const std::string format : {"DMATR", "DMATC"})
    for (const std::string structure : {"hermitian_lower", "hermitian_upper"})
      for (const std::string other : {"zero", "right", "wrong"}) {
        const io::Location where{folder / "a.h5", "/" + format + structure + other};
        for (const auto& [begin, end] : {Cut{0, 520}, Cut{100, 101}, Cut{400, 401}, Cut{7, 7}, Cut{500, 520}}) {
          CAPTURE(where.text(), begin, end);
          io::ReadOptions options{.row_begin = begin, .row_end = end};
          const index_t row = structure == "hermitian_lower" ? 100 : 400;  // where the wrong one stands
          if (other == "wrong" && begin <= row && row < end) {
            CHECK(refusal_of(where, options).says("its entries at (400, 100) and (100, 400) do not mirror each other"));
            continue;
          }
          const auto a = io::read_dense_as<Complex>(where, options);
          REQUIRE((a.rows() == end - begin && a.cols() == n));
          const auto expected =
              matrix_of<Complex>(end - begin, n, [&, b = begin](auto i, auto j) { return value(b + i, j); });
          CHECK(max_difference(a, expected) == 0);
          options.memory_limit = 5'000'000;  // a piece of the lines that pass by, and few rows
          const auto refused = refusal_of(where, options);
          CHECK((refused.code == Errc::out_of_memory) == (begin == 0));
        }
      }
}

TEST_CASE("a wrong pair is refused whichever rows are read, if it is in none of them") {
  const TemporaryFolder folder;
  using List = std::vector<std::int64_t>;
  write_h5(folder / "b.h5", "p/row", List{0, 40}, "p/col", List{1, 2}, "p/data", std::vector<double>{1, 2}, "p/shape",
           List{40, 40});
  for (const auto& [begin, end] : cuts)
    CHECK(refusal_of([&, b = begin, e = end] {
            (void)io::read_matrix({folder / "b.h5", "/p"}, of_rows(b, e));
          }).says("has entry 1 in row 40, outside 0..39"));
}

TEST_CASE("of row pointers those of the rows are read, and checked") {
  TemporaryFolder folder;
  const auto where = scipy_rows(folder, {0, 2, 1, 3, 5, 6}, {0, 1, 2, 0, 1, 3}, 4);  // decreasing at row 1
  const auto refused = [&](index_t begin, index_t end) { return refusal_of(where, of_rows(begin, end)); };
  CHECK(refused(0, 5).says("has decreasing pointers at row 1: 2 is followed by 1"));
  CHECK(refused(1, 3).says("has decreasing pointers at row 1: 2 is followed by 1"));
  CHECK(table_of(io::read_matrix(where, of_rows(3, 5))) == Table(2, 4, {4, 5, 0, 0, 0, 0, 0, 6}));
  CHECK(table_of(io::read_matrix(where, of_rows(0, 1))) == Table(1, 4, {1, 2, 0, 0}));
  const auto broken = [&](const std::vector<std::int64_t>& pointers, const std::vector<std::int64_t>& columns,
                          index_t begin, index_t end) {
    const auto place = scipy_rows(folder, pointers, columns, 4);
    return refusal_of(place, of_rows(begin, end));
  };
  CHECK(broken({0, 1, -2, 2, 3}, {0, 1, 2}, 2, 3).says("has a negative pointer at row 2: -2"));
  CHECK(broken({0, 1, 2, 2, 2}, {0, 1, 2}, 2, 4).says("pointers that end at 2, but 3 entries"));
  CHECK(broken({0, 1, 7, 7, 7}, {0, 1, 2}, 1, 2).says("has a pointer to entry 7 at row 1, but 3 entries"));
  CHECK(broken({0, 1, 7, 7, 7}, {0, 1, 2}, 2, 2).says("has a pointer to entry 7, but 3 entries"));
  CHECK(broken({0, 0, 1, 2, 3}, {0, 1, 9}, 3, 4).says("has an entry in row 3 with column number 9"));
}

TEST_CASE("some rows are allowed where all would not fit") {
  TemporaryFolder folder;
  const io::Location where{write_h5(folder / "a.h5", "a", banded<double>(1000)), "/a"};
  io::ReadOptions options = of_rows(100, 200);
  options.memory_limit = io::describe(where).bytes / 5;
  CHECK_NOTHROW(io::read_matrix(where, options));
  options.row_end = 900;
  CHECK(refusal_of(where, options).code == Errc::out_of_memory);
}

TEST_CASE("what a triangle must not hold is found in the rows that are read, and named by its row") {
  const std::string name = "binsparse_more.h5:/bad_triangle";
  CHECK_NOTHROW(table_in(name, {.row_begin = 2, .as_stored = true}));  // such entries are above
  CHECK(refusal_of(name, {.row_begin = 1, .row_end = 2, .as_stored = true}).says("has an entry at (1, 2)"));
}
