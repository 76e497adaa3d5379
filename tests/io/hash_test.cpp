#include "tallskinny/io/hash.hpp"

#include <vector>

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("a hash depends on every bit and not on threads") {
  std::vector<unsigned char> data(9 << 20, 7);
  const auto before = io::hash_of(data.data(), data.size(), 1);
  CHECK(io::hash_of(data.data(), data.size(), 3) == before);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1234567}, data.size() - 1}) {
    data[at] ^= 16;
    CHECK(io::hash_of(data.data(), data.size(), 2) != before);
    data[at] ^= 16;
  }
  CHECK(io::hash_of(data.data(), data.size() - 1, 1) != before);
}
