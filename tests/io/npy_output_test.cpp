#include "tallskinny/io/npy_output.hpp"

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/tests/io/support.hpp"
#include "tallskinny/tests/support/message_of.hpp"

using namespace ts;
using namespace ts::test;
using io::NpyOutput;

namespace {

template <class T>
void round_trip(const std::string& stored_type) {
  const TemporaryFolder folder;
  const std::string file = folder / "x.npy";
  std::vector<T> values;
  Table expected(3, 4);
  for (index_t e = 0; e < 12; ++e) {
    expected.values[static_cast<std::size_t>(e)] = static_cast<double>(e) - 5;
    if constexpr (std::is_same_v<T, std::int32_t>)
      values.push_back(static_cast<std::int32_t>(e - 5));
    else
      values.push_back(narrowed<T>(static_cast<double>(e) - 5));
  }
  NpyOutput<T> out(file, 3, 4);
  out.add(std::span<const T>(values).first(5));
  out.add(std::span<const T>(values).subspan(5));
  CHECK_FALSE(std::filesystem::exists(file));
  out.commit();
  CHECK(io::describe(io::parse_location(file)).stored_type == stored_type);
  CHECK(table_of(io::read_matrix(io::parse_location(file))) == expected);
  CHECK((std::filesystem::file_size(file) - values.size() * sizeof(T)) % 64 == 0);
}

}  // namespace

TEST_CASE("npy: what is written is read") {
  round_trip<double>("<f8");
  round_trip<float>("<f4");
  round_trip<float16>("<f2");
  round_trip<std::int32_t>("<i4");
  const TemporaryFolder folder;
  NpyOutput<std::int32_t> list(folder / "list.npy", 2);
  list.add(std::vector<std::int32_t>{7, -8});
  list.commit();
  CHECK(io::read_vector(io::parse_location(folder / "list.npy")) == std::vector<double>{7, -8});
  NpyOutput<float> nothing(folder / "nothing.npy", 0, 5);
  nothing.commit();
  CHECK(io::describe(io::parse_location(folder / "nothing.npy")).cols == 5);
}

TEST_CASE("npy: a file that is not complete leaves the old one") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.npy";
  std::ofstream(file) << "old";
  {
    NpyOutput<float> out(file, 2, 2);
    out.add(std::vector<float>{1, 2, 3});
    CHECK(message_of([&] { out.commit(); }).find("lacks elements") != std::string::npos);
    CHECK(message_of([&] { out.add(std::vector<float>{1, 2}); }).find("more elements") != std::string::npos);
  }
  std::string text;
  std::ifstream(file) >> text;
  CHECK(text == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(message_of([&] { NpyOutput<float>(folder / "none/x.npy", 1, 1); }).find("none/x.npy") != std::string::npos);
}
