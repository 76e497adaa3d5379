#include "tallskinny/app/common/memory.hpp"

#include <sstream>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::app;
using solvers::expect_memory;
using solvers::total_bytes;

TEST_CASE("the memory table adds up, without wrapping around") {
  CHECK(total_bytes({{"a", 1024}, {"b", 512}}) == 1536);
  CHECK(total_bytes({{"a", UINT64_MAX - 1}, {"b", 2}}) == UINT64_MAX);
  std::ostringstream out;
  print_memory(out, {{"matrix", 1024}, {"basis", 512}}, 1u << 20);
  CHECK(out.str() ==
        "  matrix       1.00 KiB\n  basis           512 B\n  total        1.50 KiB\n  available    1.00 MiB\n");
  JsonObject json;
  add_memory(json, {{"matrix", 1024}}, 0);
  CHECK(json.text(-1) == R"({"memory":{"matrix":1024},"memory_bytes":1024,"available_memory_bytes":null})");
}

TEST_CASE("more memory than there is, is refused before it is allocated") {
  CHECK_NOTHROW(expect_memory("the basis", {{"a", 10}}, 10));
  CHECK_NOTHROW(expect_memory("the basis", {{"a", 10}}, 0));
  try {
    expect_memory("the basis", {{"a", 3u << 20}}, 2u << 20);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::out_of_memory);
    CHECK(std::string(error.what()) == "the basis takes 3.00 MiB of memory, but only 2.00 MiB are available");
  }
}

TEST_CASE("this machine says how much memory it has") { CHECK(available_memory() > (1u << 20)); }

TEST_CASE("amounts of memory are read in powers of 1024") {
  std::uint64_t bytes = 0;
  CHECK((parse_bytes("500", bytes) && bytes == 500));
  CHECK((parse_bytes("1.5K", bytes) && bytes == 1536));
  CHECK((parse_bytes("4GiB", bytes) && bytes == std::uint64_t{4} << 30));
  for (const char* text : {"", "G", "-1", "0", "4Q", "1e30T", "nan"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text, bytes));
  }
  CHECK(bytes == std::uint64_t{4} << 30);
}
