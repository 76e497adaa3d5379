#include "tallskinny/io/table_output.hpp"

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/tests/io/support.hpp"

using io::TableOutput;

namespace {

template <class T>
std::string text_of(const std::vector<T>& values, index_t rows, index_t cols, std::vector<std::string> names) {
  std::ostringstream text;
  TableOutput<T> out(text, rows, cols, std::move(names));
  out.add(std::span<const T>(values).first(1));
  out.add(std::span<const T>(values).subspan(1));
  out.commit();
  return text.str();
}

template <class T>
void same_from_both(const std::vector<T>& values) {
  const TemporaryFolder folder;
  for (const char* name : {"t.npy", "t.csv"}) {
    CAPTURE(name);
    TableOutput<T> out(folder / name, 2, 2, {});
    out.add(values);
    CHECK_FALSE(std::filesystem::exists(folder / name));
    out.commit();
  }
  const Table expected = table_of(io::read_matrix({folder / "t.npy", ""}));
  const Table text = table_of(io::read_matrix({folder / "t.csv", ""}));
  CHECK(expected.values[0] == std::complex<double>(to_wide(values[0])));
  if constexpr (is_complex<T>) {
    REQUIRE(text.cols == 4);
    for (index_t i = 0; i < 2; ++i)
      for (index_t j = 0; j < 2; ++j)
        CHECK(expected(i, j) == std::complex<double>(T(static_cast<real_t<T>>(text(i, 2 * j).real()),
                                                       static_cast<real_t<T>>(text(i, 2 * j + 1).real()))));
  } else {
    // The text of a float is the shortest that reads as that float, not as the same double.
    for (std::size_t e = 0; e < 4; ++e)
      CHECK(narrowed<T>(text.values[e].real()) == narrowed<T>(expected.values[e].real()));
  }
}

}  // namespace

TEST_CASE("tables as text: names, lines, the shortest digits") {
  CHECK(text_of<double>({0.1, -1e300, 3, 0}, 2, 2, {"a", "b"}) == "a,b\n0.1,-1e+300\n3,0\n");
  CHECK(text_of<double>({1, 2, 3, 4}, 1, 4, {}) == "x0,x1,x2,x3\n1,2,3,4\n");
  CHECK(text_of<double>({1, 2}, 1, 2, {"vector"}) == "vector0,vector1\n1,2\n");
  CHECK(text_of<std::int32_t>({5, -1}, 2, -1, {"label"}) == "label\n5\n-1\n");
  CHECK(text_of<std::complex<double>>({{1, -2}, {0.5, 0}}, 2, -1, {"z"}) == "z_real,z_imag\n1,-2\n0.5,0\n");
  CHECK(text_of<double>({1, 2}, 1, 2, {"a,b", "c\"d"}) == "\"a,b\",\"c'd\"\n1,2\n");
}

TEST_CASE("tables as npy and csv hold the same numbers, in every type") {
  const double third = 1. / 3;
  same_from_both<double>({third, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(), -7});
  same_from_both<float>({1.f / 3, std::numeric_limits<float>::max(), 1e-40f, -7});
  same_from_both<std::complex<double>>({{third, -third}, 2, {0, 1e-300}, -7});
  same_from_both<std::complex<float>>({{1.f / 3, 1}, 2, {0, 4}, -7});
  same_from_both<float16>({narrowed<float16>(third), narrowed<float16>(6e-8), narrowed<float16>(65504), float16{}});
  same_from_both<bfloat16>({narrowed<bfloat16>(third), narrowed<bfloat16>(1e30), narrowed<bfloat16>(2), bfloat16{}});
}

TEST_CASE("a table that is not whole is not there") {
  const TemporaryFolder folder;
  const std::string file = folder.file("t.csv", "old");
  {
    TableOutput<double> out(file, 2, 2, {});
    const std::vector<double> three = {1, 2, 3};
    out.add(three);
    CHECK(mentions(message_of([&] { out.add(three); }), "more elements"));
    CHECK(mentions(message_of([&] { out.commit(); }), "lacks elements"));
  }
  CHECK(content_of(file) == "old");
  CHECK(mentions(message_of([&] { TableOutput<double>(folder / "t.txt", 1, 1, {}); }), ".npy or .csv"));
  CHECK((io::is_table_name("a.npy") && io::is_table_name("b/a.csv") && !io::is_table_name("a.h5")));
}
