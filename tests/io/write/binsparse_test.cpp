#include "tallskinny/tests/io/support.hpp"
#include "tallskinny/tests/support/markup.hpp"

using io::OutputFile;
using io::Structure;

namespace {

template <class T>
CsrMatrix<T> small_hermitian() {
  CsrMatrix<T> a{3, 3, {0, 2, 4, 4}, {0, 1, 0, 1}, {T{2}, T{-1}, T{-1}, T{3}}};
  if constexpr (is_complex<T>) a.values[1] = {1, 2}, a.values[2] = {1, -2};
  return a;
}

}  // namespace

TEST_CASE("Binsparse comes back as it was, whole and as a triangle") {
  TemporaryFolder folder;
  const auto real = small_hermitian<double>();
  const auto single = small_hermitian<float>();
  const auto complex = small_hermitian<std::complex<double>>();
  const auto complex_single = small_hermitian<std::complex<float>>();
  {
    OutputFile out(folder / "b.h5");
    out.write_binsparse("/", real);
    out.write_binsparse("deep/er/real", real, Structure::symmetric);
    out.write_binsparse("float", single, Structure::hermitian);
    out.write_binsparse("complex", complex, Structure::hermitian);
    out.write_binsparse("whole", complex);
    out.write_binsparse("complex_single", complex_single);
    out.write_binsparse("empty", CsrMatrix<double>{});
    CHECK(refusal_of([&] { out.write_binsparse("no", complex, Structure::symmetric); }).code == Errc::invalid_argument);
    CsrMatrix<double> unsorted = real;
    std::swap(unsorted.indices[0], unsorted.indices[1]);
    CHECK(refusal_of([&] { out.write_binsparse("no", unsorted); }).says("sorted"));
    out.commit();
  }
  const auto check = [&](const std::string& object, const auto& expected, Structure structure) {
    INFO(object);
    const auto read = io::read_matrix({folder / "b.h5", object});
    CHECK(read.description.convention == "Binsparse");
    CHECK(read.description.declared == structure);
    const auto& a = std::get<std::decay_t<decltype(expected)>>(std::get<io::SparseMatrix>(read.matrix));
    CHECK(same(a, expected));
  };
  check("", real, Structure::general);
  check("/deep/er/real", real, Structure::symmetric);
  check("/float", single, Structure::hermitian);
  check("/complex", complex, Structure::hermitian);
  check("/whole", complex, Structure::general);
  check("/complex_single", complex_single, Structure::general);
  check("/empty", CsrMatrix<double>{}, Structure::general);
}

TEST_CASE("Binsparse is written as the reference package reads it") {
  TemporaryFolder folder;
  const char* keep = std::getenv("TS_KEEP_BINSPARSE");  // for tests/io/fixtures/check_binsparse.py
  const std::string file = keep != nullptr ? std::string(keep) : folder / "written.h5";
  {
    OutputFile out(file);
    out.write_binsparse("real", small_hermitian<double>());
    out.write_binsparse("float", small_hermitian<float>());
    out.write_binsparse("complex", small_hermitian<std::complex<double>>());
    out.write_binsparse("triangle", small_hermitian<std::complex<double>>(), Structure::hermitian);
    out.commit();
  }
  // The committed copy is the one that the package has read: what is written now must not differ from it.
  const std::string now = content_of(file), checked = content_of(fixture("written.h5").file);
  for (const char* piece : {"\"binsparse\":{", "\"format\":\"CSR\"", "\"version\":\"0.1.0\"",
                            "\"values\":\"complex[float64]\"", "\"structure\":\"hermitian_lower\""}) {
    INFO(piece);
    CHECK(count(now, piece) > 0);
    CHECK(count(now, piece) == count(checked, piece));
  }
  for (const char* name : {"/real", "/float", "/complex", "/triangle"}) {
    INFO(name);
    CHECK(table_of(io::read_matrix({file, name})) == table_in(std::string("written.h5:") + name));
  }
}
